"""All that a fit of latent features has drawn, in two groups of its tree, as one dataset."""


def all_drawn(tree):
    """The variables of the groups posterior and latent_features."""
    return tree["posterior"].to_dataset().merge(tree["latent_features"].to_dataset())


def change_drawn(tree, change):
    """Replace both groups by what `change` makes of each."""
    for name in ("posterior", "latent_features"):
        tree[name] = type(tree)(change(tree[name].to_dataset()))
