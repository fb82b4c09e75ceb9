"""Comparisons of two models on three options, in short runs."""

import warnings

import numpy as np
from sklearn.dummy import DummyClassifier

import thali as th
from thali.errors import ThaliWarning

TRIO = th.PairedComparisons([[0, 6, 2], [1, 0, 3], [4, 1, 0]], labels=["x", "y", "z"])
SHORT = dict(draws=40, tune=10, chains=2, thin=1, random_seed=3, progressbar=False, cores=1)


def models():
    return {"BTL": th.EliminationByAspects("unique"), "two": th.EliminationByAspects(2)}


def compare(named=None, data=TRIO, **changed):
    """A comparison without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        return th.compare(models() if named is None else named, data, **(SHORT | changed))


def folds_of(labels, folds, seed):
    """The fold in which each row is left out, whatever is compared; -1 where it never is."""
    rows = np.arange(float(len(labels)))[:, None]
    table = compare(
        {"none": DummyClassifier(strategy="prior")}, (rows, labels), folds=folds, random_seed=seed
    )
    return table.attrs["fold"].reindex(range(len(labels)), fill_value=-1).to_numpy()


def sentences(table):
    """What a comparison says: which model is best, and what is established."""
    found = th.findings(table)["comparison"]
    legend, *others = found.notes
    return [str(found.sentence), *map(str, others)]
