"""What a fit of three sweeps leaves, as a few numbers a variable: owners and decisions by hash,
floats by their sums.

`python -m helpers.digests` in the folder `tests` writes them anew (cases/digests.json). That is
allowed where an issue asks for another sampler or default, and whoever does it names the rows that
change, and why.
"""

import hashlib
import json
import math
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import thali as th
from helpers.experiment_data import simulate_experiment
from thali._data.kinds import CHOICES, CLASSES, EXPERIMENTS, PAIRS, SIMILARITIES, TRIPLETS
from thali._model.registry import SPECS
from thali._testing import small_models
from thali._testing.small_models import SMALL_MODELS, SmallModelCase

KINDS = {
    th.PairedComparisons: PAIRS,
    th.Choices: CHOICES,
    th.ChoiceExperiment: EXPERIMENTS,
    th.Similarities: SIMILARITIES,
    th.Triplets: TRIPLETS,
}
FILE = Path(__file__).parents[1] / "cases" / "digests.json"
RELATIVE = 1e-9  # how far a float may be from the one that is kept, of the sum of absolute values
# The same of estimates that so few choices do not bound: a climb ends where the curvature is some
# 1e-10, a million times the rounding of a sum of tens.
UNBOUNDED = 1e-4
# whose compiled code adds numbers of single precision, and Python numbers of double precision
IN_SINGLE_PRECISION = ("nonnegative-dimensions", "nonnegative-dimensions, triplets")
WITHOUT_BOUND = (
    "bradley-terry-luce, maximum-likelihood, covariates",
    "elimination-by-aspects, maximum-likelihood, covariates",
    "latent-class-logit",
    "latent-class-logit, columns of people",
    "latent-class-logit, none",
    "multinomial-logit, none",
)
_SHORT = dict(draws=3, tune=1, thin=1, chains=2, sweeps_per_step=1, cores=1)
_EBA, _ADDITIVE = "elimination-by-aspects", "additive-clustering"
_UNIQUE = partial(th.EliminationByAspects, aspects="unique")


def _with_none():
    """The experiment, in which a fourth alternative is none of the products."""
    rows = []
    for k, (task, products) in enumerate(
        simulate_experiment(4, 3, seed=4).groupby(["id", "task"], sort=False)
    ):
        none = {"id": task[0], "task": task[1], "alt": 4, "choice": int(k % 4 == 3)}
        rows += [
            products.assign(choice=0 if k % 4 == 3 else products["choice"]),
            pd.DataFrame([none]),
        ]
    return (th.ChoiceExperiment.from_frame(pd.concat(rows, ignore_index=True), none="4"),)


def _first_column(model):
    return model.summary().iloc[:, 0].to_numpy()


def best_and_worst():
    """The best and the worst of three options, and of two of them."""
    rows = [
        ("a", "b", "c", "a", "c"),
        ("b", "c", "d", "d", "b"),
        ("a", "c", "d", "a", "d"),
        ("a", "b", "d", "b", "a"),
    ]
    return (
        th.Choices.from_best_worst(
            pd.DataFrame(rows, columns=["item1", "item2", "item3", "best", "worst"])
        ),
    )


def _set_choices(chosen):
    rows = [
        (f"{members} {k}", x, int(x == option))
        for members, options in chosen.items()
        for k, option in enumerate(options)
        for x in members
    ]
    return th.Choices(pd.DataFrame(rows, columns=["task", "item", "chosen"]))


# What runs the code of a row of `SMALL_MODELS` with other numbers, other data or another likelihood.
_BTL = "bradley-terry-luce"
MORE = {
    **{
        f"{_BTL}, {method}, {name}": SmallModelCase(
            partial(th.BradleyTerryLuce, method=method, **more), data, ask, run
        )
        for method, run in (
            ("laplace", small_models.DRAWS),
            ("mcmc", small_models.CHAINS),
            ("maximum-likelihood", {}),
        )
        for name, more, data, ask in (
            ("ties", {}, small_models.build_tied_pairs, small_models.predict_first_pair),
            ("covariates", {}, small_models.build_described_pairs, small_models.predict_first_pair),
            (
                "people",
                {"people": "adjusted"},
                small_models.build_answered_pairs,
                small_models.predict_first_pair,
            ),
            ("choices", {}, small_models.build_sets, small_models.predict_first_set),
            ("rankings", {}, small_models.build_rankings, small_models.predict_first_set),
            (
                "best and worst",
                {"best_worst": "reversed"},
                best_and_worst,
                small_models.predict_first_set,
            ),
        )
    },
    f"{_EBA}, number, choices": SmallModelCase(
        partial(th.EliminationByAspects, aspects=2),
        small_models.build_sets,
        small_models.predict_first_set,
    ),
    f"{_EBA}, given, choices": SmallModelCase(
        partial(th.EliminationByAspects, aspects=small_models.GIVEN),
        small_models.build_sets,
        small_models.predict_first_set,
    ),
    f"{_EBA}, no lapse, fixed alpha": SmallModelCase(
        partial(th.EliminationByAspects, lapse=0.0, alpha=2.0),
        small_models.build_pairs,
        small_models.predict_first_pair,
    ),
    f"{_EBA}, ties by half": SmallModelCase(
        partial(th.EliminationByAspects, ties="half"),
        small_models.build_tied_pairs,
        small_models.predict_first_pair,
    ),
    f"{_EBA}, tempering": SmallModelCase(
        partial(th.EliminationByAspects, tempering=3),
        small_models.build_pairs,
        small_models.predict_first_pair,
    ),
    **{
        f"{_EBA}, people, {name}": SmallModelCase(
            partial(_UNIQUE, **more), data, small_models.predict_first_pair, run
        )
        for name, more, data, run in (
            (
                "power, mcmc",
                {"people": "adjusted"},
                small_models.build_answered_pairs,
                small_models.CHAINS,
            ),
        )
    },
    **{
        f"{_EBA}, {method}, {name}": SmallModelCase(partial(_UNIQUE, method=method), data, ask, run)
        for method, run, name, data, ask in (
            (
                "maximum-likelihood",
                {"random_seed": 1},
                "ties",
                small_models.build_tied_pairs,
                small_models.predict_first_pair,
            ),
            (
                "maximum-likelihood",
                {"random_seed": 1},
                "covariates",
                small_models.build_described_pairs,
                small_models.predict_first_pair,
            ),
        )
    },
    f"{_ADDITIVE}, learned sigma, no constant": SmallModelCase(
        partial(th.AdditiveClustering, sigma="learned", constant=False),
        small_models.build_similarities,
        small_models.estimate_similarity,
    ),
    f"{_ADDITIVE}, triplets, ratio": SmallModelCase(
        partial(th.AdditiveClustering, link="ratio"),
        small_models.build_triplets,
        small_models.predict_first_set,
    ),
    **{
        f"latent-feature-model, {name}": SmallModelCase(
            partial(th.LatentFeatureModel, th.priors.IndianBuffet(), likelihood()),
            data,
            _first_column,
        )
        for name, likelihood, data in (
            ("choices", th.likelihoods.Elimination, small_models.build_sets),
            ("similarities", th.likelihoods.Additive, small_models.build_similarities),
            ("triplets", th.likelihoods.MostSimilarPair, small_models.build_triplets),
        )
    },
    "product-classes, none": SmallModelCase(
        th.ProductClasses, _with_none, _first_column, small_models.PRODUCTS
    ),
    "multinomial-logit, none": SmallModelCase(th.MultinomialLogit, _with_none, _first_column, {}),
    "hierarchical-logit, none": SmallModelCase(th.HierarchicalLogit, _with_none, _first_column),
    "latent-class-logit, none": SmallModelCase(
        partial(th.LatentClassLogit, classes=2), _with_none, _first_column, small_models.ONCE
    ),
    "sparse-logit, auto": SmallModelCase(
        th.SparseMultinomialLogit,
        small_models.build_rows,
        small_models.predict_first_rows,
    ),
}


def _shortened(row: SmallModelCase) -> SmallModelCase:
    return replace(row, run={name: _SHORT.get(name, value) for name, value in row.run.items()})


ROWS = {name: _shortened(row) for name, row in (SMALL_MODELS | MORE).items()}
for _name in (f"{_ADDITIVE}, map", f"{_ADDITIVE}, triplets, map"):  # fewer annealed runs
    ROWS[_name] = replace(ROWS[_name], run=ROWS[_name].run | {"chains": 1})


def digest_of(values: Any) -> Any:
    """A hash of whole numbers, truths and texts; of floats how many, where one is no number, and
    three sums.

    They are of absolute values, of values in which each counts otherwise, and of logarithms: small
    ones count, too.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "fc":
        array = array.astype(np.int64) if array.dtype.kind in "biu" else array.astype(str)
        content = array.tobytes() if array.dtype.kind == "i" else "\n".join(array.ravel()).encode()
        return hashlib.sha256(repr(array.shape).encode() + content).hexdigest()[:16]
    flat = array.ravel()
    there = np.isfinite(flat)
    kept = np.where(there, flat, 0.0)
    weights = np.cos(np.arange(1, 1 + len(flat)))  # no two places alike
    # noise about 0 stays small
    logs = np.log(np.abs(kept) / max(np.abs(kept).max(initial=0.0), 1e-300) + 1e-6)
    absent = (
        digest_of(np.where(there, 0, np.where(np.isnan(flat), 1, 2))) if not there.all() else ""
    )
    return [
        len(flat),
        absent,
        *(float(each) for each in (np.abs(kept).sum(), kept @ weights, logs @ weights)),
    ]


def is_same(found: Any, kept: Any, relative: float = RELATIVE) -> bool:
    """Whether two digests are of the same values."""
    if isinstance(found, str) or isinstance(kept, str):
        return found == kept
    scales = [kept[2], kept[2], 10.0 * kept[0]]
    near = [
        math.isclose(a, b, rel_tol=0.0, abs_tol=relative * max(scale, 1e-300))
        for a, b, scale in zip(found[2:], kept[2:], scales, strict=True)
    ]
    return found[:2] == kept[:2] and all(near)


def digests_of(model: Any, row: SmallModelCase) -> dict[str, Any]:
    """Of every variable of the posterior, of the means of the summary, and of what it predicts."""
    found: dict[str, Any] = {}
    if hasattr(model, "posterior_"):
        for part in ("posterior", "latent_features", "log_likelihood"):
            if part in model.posterior_.children:
                variables = (
                    model.posterior_[part]
                    .dataset.drop_vars("class_order", errors="ignore")
                    .data_vars
                )
                # one name, wherever a draw is stored
                whose = part.replace("latent_features", "posterior")
                found |= {
                    f"{whose}.{name}": digest_of(values.values)
                    for name, values in variables.items()
                }
    # weights that are alike stand in any order
    summary = model.summary().sort_index(key=lambda index: index.map(str))
    found["summary.rows"] = digest_of([str(name) for name in summary.index])
    found |= {
        f"summary.{name}": digest_of(summary[name].to_numpy(float)) for name in summary.columns[:2]
    }
    found["prediction"] = digest_of(row.predict(model))
    return found


def place_of(name: str) -> tuple[str, str, str]:
    """Of a row the model, its method and the kind of data."""
    row, spec = ROWS[name], next(each for each in SPECS if each.name == name.partition(",")[0])
    given, (data, *labels) = getattr(row.make, "keywords", {}), row.data()
    method = given.get("method", spec.methods[0]) if spec.methods else ""
    return spec.name, method, CLASSES if labels else KINDS[type(data)]


def fitted(name: str) -> tuple[Any, SmallModelCase]:
    """The model of a row after three sweeps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ROWS[name].build_fitted(), ROWS[name]


if __name__ == "__main__":
    from thali._compile import jit

    jit._is_disabled = lambda: True
    kept = {name: digests_of(*fitted(name)) for name in ROWS}
    lines = ",\n".join(
        f" {json.dumps(name)}: {json.dumps(each, sort_keys=True)}"
        for name, each in sorted(kept.items())
    )
    FILE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
