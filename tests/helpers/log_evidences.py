"""The log evidence of a model that has no fit, as `th.compare` finds it."""

import warnings

import thali as th
from thali.errors import ThaliWarning


def log_evidence(model, data, **run):
    """Return the log evidence of one model, without warnings; a run may have other settings."""
    settings = {"random_seed": 2006, "cores": 1, "progressbar": False} | run
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        table = th.compare({"it": model}, data, by="evidence", **settings)
    return table.attrs["evidence"]["it"]
