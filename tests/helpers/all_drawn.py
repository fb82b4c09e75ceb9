"""All that a fit of latent features has drawn, in two groups of its tree, as one dataset."""


def all_drawn(tree):
    """The variables of the groups posterior and latent_features."""
    drawn = tree["posterior"].to_dataset()
    return drawn.merge(tree["latent_features"].to_dataset()) if "latent_features" in tree else drawn


def in_groups(drawn):
    """The variables of a dataset in the groups to which they belong."""
    latent = [name for name, values in drawn.data_vars.items() if "feature" in values.dims]
    return {"posterior": drawn.drop_vars(latent), "latent_features": drawn[latent]}


def change_drawn(tree, change):
    """Replace both groups by what `change` makes of each."""
    for name in ("posterior", "latent_features"):
        tree[name] = type(tree)(change(tree[name].to_dataset()))
