"""Whether two chains drew the same."""

import numpy as np

FIELDS = ("alpha", "log_likelihood", "unique_weights", "n_features", "weights", "sizes", "owners")


def same(a, b):
    """To the last bit."""
    assert a.extra.keys() == b.extra.keys()
    pairs = [(getattr(a, name), getattr(b, name)) for name in FIELDS] + [
        (a.extra[x], b.extra[x]) for x in a.extra
    ]
    return all(np.array_equal(one, other) for one, other in pairs)
