"""What a fit made of the answers of the same people, as its posterior keeps it."""

from types import SimpleNamespace

PREFIX = "people_"


def dependence_of(model):
    """Return the attributes of the posterior that say it, such as `effect`; None where nobody knew
    who answered."""
    found = {
        name.removeprefix(PREFIX): x
        for name, x in model.posterior_.attrs.items()
        if name.startswith(PREFIX)
    }
    return SimpleNamespace(**found) if found else None
