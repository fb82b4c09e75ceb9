"""What a notebook shows."""


def html_of(thing):
    """The HTML that a notebook asks a thing for."""
    return thing._repr_html_()
