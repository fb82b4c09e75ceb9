"""Every model of thali on data of a few rows with a budget of a few draws: a new model adds its row
to `TINY`."""

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import pandas as pd
import pytest

import thali as th
from helpers.digests import best_and_worst
from thali._testing.small_models import SMALL_MODELS, SmallModelCase

# argument of `fit` -> argument of the constructor of classifiers
_CONSTRUCTOR_ARGUMENTS = {name: name for name in ("draws", "tune", "chains")} | {
    "random_seed": "random_state"
}


@dataclass(frozen=True, kw_only=True)
class Tiny(SmallModelCase):
    """How to fit one model in a second, and what of it the checks must know.

    Parameters
    ----------
    bad_data : tuple
        Data that no fit accepts.
    has_chains : bool
        Whether the fit draws; if not it takes neither `cores` nor Ctrl-C.
    keeps_beginning : bool
        Whether an interrupted run keeps the first draws of the unbroken one; False if it stops at
        another lapse.
    pictures : tuple of str, optional
        Functions of `thali.plots` that draw it.
    """

    bad_data: tuple = (None,)
    has_chains: bool = True
    keeps_beginning: bool = True
    pictures: tuple[str, ...] = ()

    def model(self) -> Any:
        """The model, not fitted, with the short run of a classifier."""
        model = self.make()
        parameters = model.get_params()
        taken = {
            parameter: self.run[name]
            for name, parameter in _CONSTRUCTOR_ARGUMENTS.items()
            if name in self.run and parameter in parameters
        }
        return model.set_params(**taken)

    def fit(self, model: Any, data: Any = None, **run: Any) -> Any:
        """The model after a fit to these data, or to its own, with the short run."""
        parameters = model.get_params()
        taken = {
            name: value
            for name, value in (self.run | run).items()
            if _CONSTRUCTOR_ARGUMENTS.get(name) not in parameters
        }
        return model.fit(*(self.data() if data is None else data), **taken)

    def build_fitted(self, **run: Any) -> Any:
        """The model after a fit, with other settings of the run."""
        return SmallModelCase.build_fitted(replace(self, run=self.run | run))


# by the name of the spec, with what is special behind a comma
_SPECIAL: dict[str, dict[str, Any]] = {
    "bradley-terry-luce": {"pictures": ("worths", "ranks", "predictions")},
    "bradley-terry-luce, mcmc": {"pictures": ("worths", "ranks", "predictions")},
    "bradley-terry-luce, maximum likelihood": {
        "has_chains": False,
        "pictures": ("worths", "ranks", "predictions"),
    },
    "bradley-terry-luce, individuals": {"pictures": ("worths", "ranks", "predictions")},
    "bradley-terry-luce, best and worst individuals": {
        "pictures": ("worths", "ranks", "scores", "predictions", "reach")
    },
    "elimination-by-aspects": {"pictures": ("features", "predictions", "ranks")},
    "elimination-by-aspects, choices": {},
    "elimination-by-aspects, covariates": {},
    "elimination-by-aspects, maximum likelihood": {
        "has_chains": False,
        "pictures": ("predictions",),
    },
    "additive-clustering": {"pictures": ("features", "predictions")},
    "additive-clustering, triplets": {"pictures": ("features", "check")},
    "nonnegative-dimensions": {"pictures": ("dimensions", "dimension_map", "check")},
    "nonnegative-dimensions, triplets": {"pictures": ("dimensions", "dimension_map", "check")},
    "latent-feature-model": {"pictures": ("features",)},
    "product-classes": {"keeps_beginning": False},
    "multinomial-logit": {"has_chains": False},
    "multinomial-logit, amounts": {"has_chains": False},
    "hierarchical-logit": {},
    "hierarchical-logit, amounts": {},
    "latent-class-logit": {"has_chains": False},
    "latent-class-logit, columns of people": {"has_chains": False},
    "plackett-luce": {"bad_data": (None, None)},
    "sparse-logit": {"bad_data": (None, None)},
}

_PEOPLE = SmallModelCase(
    th.BradleyTerryLuce,
    SMALL_MODELS["bradley-terry-luce, individuals"].data,
    SMALL_MODELS["bradley-terry-luce"].predict,
    SMALL_MODELS["bradley-terry-luce"].run,
)


def _aged_answers():
    """Comparisons of four respondents, and how old each is."""
    rows = [
        (f"p{k}", 20 + 10 * k, a, b, (a, b)[(k + n) % 2])
        for k in range(4)
        for n, (a, b) in enumerate(("ab", "bc", "ac"))
    ]
    frame = pd.DataFrame(rows, columns=["who", "age", "first", "second", "chosen"])
    return (th.PairedComparisons.from_trials(frame, respondent="who"),)


TINY = {name: Tiny(**vars(SMALL_MODELS[name]), **special) for name, special in _SPECIAL.items()}
TINY["bradley-terry-luce, people"] = Tiny(**vars(_PEOPLE))
TINY["bradley-terry-luce, aged individuals"] = Tiny(
    partial(th.BradleyTerryLuce, people=th.people.Individuals(by=["age"])),
    _aged_answers,
    SMALL_MODELS["bradley-terry-luce, individuals"].predict,
    SMALL_MODELS["bradley-terry-luce, individuals"].run,
    pictures=("worths", "ranks", "predictions"),
)
TINY["bradley-terry-luce, best and worst"] = Tiny(
    partial(th.BradleyTerryLuce, best_worst="reversed"),
    best_and_worst,
    SMALL_MODELS["elimination-by-aspects, choices"].predict,
    SMALL_MODELS["bradley-terry-luce"].run,
)


@cache
def fitted(name: str) -> Any:
    """The model after a fit that all tests of a process share: they read it and change nothing."""
    return TINY[name].build_fitted()


ONE_OF_EACH = (  # a model of each wing, and one of each way in which a fit keeps what it found
    "bradley-terry-luce",
    "bradley-terry-luce, mcmc",
    "bradley-terry-luce, maximum likelihood",
    "bradley-terry-luce, best and worst individuals",
    "elimination-by-aspects",
    "elimination-by-aspects, maximum likelihood",
    "additive-clustering, triplets",
    "product-classes",
    "hierarchical-logit",
    "latent-class-logit, columns of people",
    "plackett-luce",
    "sparse-logit",
)


def of_models(names, is_shared=False):
    """A check of each of these models; of code that all share, by default of one of each wing."""
    return pytest.mark.parametrize(
        "name",
        [
            pytest.param(name, marks=[pytest.mark.long] * (is_shared and name not in ONE_OF_EACH))
            for name in names
        ],
    )
