"""Every model of thali on data of a few rows with a budget of a few draws: a new model adds its row to `TINY`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from experiment_data import simulated

import thali as th


@cache
def _experiment():
    return th.ChoiceExperiment.from_frame(simulated(people=6, tasks=4, seed=4), levels={"zoom": ["no", "yes"]})


def _pairs():
    return (th.PairedComparisons([[0, 3, 1], [2, 0, 4], [1, 2, 0]], labels=list("abc")),)


def _groups():
    return ({"women": _pairs()[0], "men": th.PairedComparisons([[0, 1, 3], [4, 0, 2], [0, 2, 0]], labels=list("abc"))},)


def _answered_pairs():
    """As many comparisons, of which it is known who made them."""
    frame = _pairs()[0].to_frame()
    rows = frame.loc[frame.index.repeat(frame["count"]), ["chosen", "rejected"]].astype(str).reset_index(drop=True)
    rows["person"] = [f"p{k % 4}" for k in range(len(rows))]
    rows["first"], rows["second"] = rows["chosen"], rows["rejected"]
    return (th.PairedComparisons.from_trials(rows, "first", "second", "chosen", subject="person", labels=list("abc")),)


def _described_pairs():
    """As many comparisons, of which it is known which option was first."""
    frame = _pairs()[0].to_frame()
    turned = np.arange(len(frame)) % 3 == 1
    left, right = (frame[side].astype(str).to_numpy() for side in ("chosen", "rejected"))
    trials = {"left": np.where(turned, right, left), "right": np.where(turned, left, right)}
    trials |= {"winner": np.where(turned, "right", "left"), "count": frame["count"].to_numpy()}
    return (th.PairedComparisons.from_trials(pd.DataFrame(trials), covariates=["order"], labels=list("abc")),)


def _similarities():
    values = np.random.default_rng(3).random((4, 4))
    return (th.Similarities((values + values.T) / 2, labels=list("abcd")),)


def _triplets():
    rows = [("a", "b", "c"), ("a", "b", "d"), ("c", "d", "a"), ("b", "c", "d"), ("a", "b", "c")]
    return (th.Triplets(rows),)


def _rows():
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(20, 2)), columns=["height", "weight"])
    return X, np.where(X["height"] + rng.logistic(size=20) > 0, "yes", "no")


@dataclass(frozen=True)
class Tiny:
    """How to fit one model in a second.

    Parameters
    ----------
    make : callable
        The model from arguments of its constructor.
    data : callable
        What `fit` takes, as a tuple.
    run : dict
        The budget of a run: arguments of `fit`, or of the constructor if `is_run_made`.
    is_run_made : bool
        Whether the constructor takes the run, as scikit-learn wants of classifiers.
    ask : callable
        Predictions of a fitted model for something it has seen.
    bad_run, bad_data : dict, tuple
        A budget and data that no fit accepts.
    has_chains : bool
        Whether the fit draws; if not it takes neither `cores` nor Ctrl-C.
    keeps_beginning : bool
        Whether an interrupted run keeps the first draws of the unbroken one; False if it stops at another lapse.
    pictures : tuple of str, optional
        Functions of `thali.plots` that draw it; None: those of its spec.
    """

    make: Callable[..., Any]
    data: Callable[[], tuple]
    run: dict[str, Any]
    ask: Callable[[Any], Any]
    is_run_made: bool = False
    bad_run: dict[str, Any] = field(default_factory=lambda: {"draws": 0})
    bad_data: tuple = (None,)
    has_chains: bool = True
    keeps_beginning: bool = True
    pictures: tuple[str, ...] | None = None

    def model(self, **run) -> Any:
        """A model that is not fitted."""
        return self.make(**(self.run | run)) if self.is_run_made else self.make()

    def fit(self, model, data=None, **run) -> Any:
        """What its `fit` returns."""
        data = self.data() if data is None else data
        return model.fit(*data) if self.is_run_made else model.fit(*data, **(self.run | run))

    def fitted(self, **run) -> Any:
        """A fitted model."""
        model = self.model(**run)
        self.fit(model, **run)
        return model


_RUN = {"draws": 12, "tune": 8, "thin": 1, "chains": 2, "random_seed": 1, "progressbar": False}


def _first_pair(model):
    return model.predict_proba([("a", "b")])


def _first_tasks(model):
    return model.predict_proba(_experiment())


def _first_rows(model):
    return model.predict_proba(_rows()[0][:5])


TINY: dict[str, Tiny] = {  # by the name of the spec, with a method of it behind a comma
    "elimination-by-aspects": Tiny(th.EliminationByAspects, _pairs, ask=_first_pair, run=_RUN),
    "elimination-by-aspects, groups": Tiny(
        lambda: th.EliminationByAspects(weights="similar"),
        _groups,
        ask=lambda model: model.of_group("women").predict_proba([("a", "b")]),
        run=_RUN,
        pictures=("group_weights", "n_features", "trace"),
    ),
    "elimination-by-aspects, kinds": Tiny(
        lambda: th.EliminationByAspects(kinds=2),
        _answered_pairs,
        ask=_first_pair,
        run=_RUN,
        pictures=("same_kind", "group_weights", "n_features", "trace"),
    ),
    "elimination-by-aspects, covariates": Tiny(th.EliminationByAspects, _described_pairs, ask=_first_pair, run=_RUN),
    "elimination-by-aspects, laplace": Tiny(
        lambda: th.EliminationByAspects("unique", method="laplace"),
        _pairs,
        ask=_first_pair,
        run={"draws": 12, "chains": 2, "random_seed": 1, "progressbar": False},
    ),
    "elimination-by-aspects, maximum likelihood": Tiny(
        lambda: th.EliminationByAspects("unique", method="maximum-likelihood"),
        _pairs,
        ask=_first_pair,
        run={"random_seed": 1},
        bad_run={},
        has_chains=False,
        pictures=("utility_scale", "residuals", "choice_probabilities"),
    ),
    "additive-clustering": Tiny(
        th.AdditiveClustering, _similarities, ask=lambda model: model.estimate().similarity.to_numpy(), run=_RUN
    ),
    "additive-clustering, triplets": Tiny(
        th.AdditiveClustering,
        _triplets,
        ask=lambda model: model.predict_proba([("a", "b", "c")])[0],
        run=_RUN,
        pictures=("features", "n_features", "trace", "check"),
    ),
    "latent-feature-model": Tiny(
        lambda: th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Elimination()),
        _pairs,
        ask=_first_pair,
        run=_RUN,
    ),
    "product-classes": Tiny(
        th.ProductClasses,
        lambda: (_experiment(),),
        run={"chains": 2, "sweeps": 20, "sweeps_per_step": 2, "random_seed": 1, "progressbar": False},
        ask=_first_tasks,
        bad_run={"sweeps": 0},
        keeps_beginning=False,
    ),
    "multinomial-logit": Tiny(
        th.MultinomialLogit, lambda: (_experiment(),), run={}, ask=_first_tasks, bad_run={}, has_chains=False
    ),
    "hierarchical-logit": Tiny(th.HierarchicalLogit, lambda: (_experiment(),), ask=_first_tasks, run=_RUN),
    "latent-class-logit": Tiny(
        lambda **how: th.LatentClassLogit(**({"classes": 2} | how)),
        lambda: (_experiment(),),
        run={"random_seed": 1, "progressbar": False},
        ask=_first_tasks,
        bad_run={},
        has_chains=False,
    ),
    "plackett-luce": Tiny(
        th.PlackettLuceRegression, _rows, ask=_first_rows, is_run_made=True, bad_data=(None, None), run=_RUN
    ),
    "sparse-logit": Tiny(
        th.SparseMultinomialLogit, _rows, ask=_first_rows, is_run_made=True, bad_data=(None, None), run=_RUN
    ),
}
