"""Comparisons of two models on three options, in short runs, and runs that Ctrl-C stops."""

import warnings

import thali as th
from thali._inference import threads as workers
from thali.errors import ThaliWarning

TRIO = th.PairedComparisons([[0, 6, 2], [1, 0, 3], [4, 1, 0]], labels=["x", "y", "z"])
SHORT = {"draws": 40, "tune": 10, "chains": 2, "thin": 1, "random_seed": 3, "progressbar": False, "cores": 1}


def models():
    return {"BTL": th.EliminationByAspects("unique"), "two": th.EliminationByAspects(2)}


def compare(named=None, data=TRIO, **changed):
    """A comparison without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        return th.compare(models() if named is None else named, data, **(SHORT | changed))


def stop_after(count, patch):
    """Stop a comparison by Ctrl-C when so many of its fits are finished."""
    run_all = workers.run_all

    def stopped(*arguments):
        for done, result in enumerate(run_all(*arguments), start=1):
            yield result
            if done == count:
                raise KeyboardInterrupt

    patch.setattr("thali._comparison.engine.run_all", stopped)
