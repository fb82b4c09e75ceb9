"""Navarro & Griffiths (2007), A nonparametric Bayesian method for inferring features from
similarity judgments.

Here are Tables 1 to 3 and Fig. 4, of judged similarities; section 5, of simulated ones, is in
additive_2007_simulation.py.
"""

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from thali import datasets
from thali._aspects.models.additive_clustering import AdditiveClustering
from thali._aspects.results.feature_table import find_presence
from thali._data.similarities import Similarities
from thali._inference.progress_display import Progress
from thali._labels import shorten
from thali._posterior.summary_table import compute_diagnostics
from thali.errors import ConvergenceWarning, DataError, InterruptedWarning

from . import additive_2007_tables as tables
from .additive_2007_tables import (
    ALPHA,
    COUNTRIES,
    LETTERS,
    LETTERS_CONSTANT,
    NUMBERS,
    PAPER,
    RATE,
    Design,
)
from .plots.feature_outlines import overlap
from .plots.numbers_and_traces import number_of_features
from .reproduction_entry import Entry, Reproduction, Settings
from .samplers import use_published_sampler


def numbers(settings: Settings) -> Reproduction:
    """Table 1(b) and Fig. 4(a): similarities of the digits as concepts."""
    return recomputed(settings, NUMBERS, datasets.numbers())


def countries(settings: Settings) -> Reproduction:
    """Table 2 and Fig. 4(b)."""
    return _from_file(settings, COUNTRIES)


def letters(settings: Settings) -> Reproduction:
    """Table 3 and Fig. 4(c)."""
    found = _from_file(settings, LETTERS)
    data, _ = read(settings.data, LETTERS)
    printed, meant = (
        tables.explained_by_print(LETTERS, data, w0) for w0 in (LETTERS.constant, LETTERS_CONSTANT)
    )
    found.remarks += [
        f"The constant {LETTERS.constant} of Table 3 is a misprint for {LETTERS_CONSTANT} in all"
        f" likelihood: the printed features and weights account for {printed:.0f} % of the"
        f" variance with the former and {meant:.0f} % with the latter.",
        "The paper's reference [19] is about Morse signals; the letters are those of Gibson,"
        " Osser, Schiff & Smith (1963).",
    ]
    return found


def _from_file(settings: Settings, design: Design) -> Reproduction:
    data, how = read(settings.data, design)
    found = recomputed(settings, design, data)
    found.remarks.append(f"The data were read from {Path(str(settings.data)).name}: {how}.")
    return found


def read(path: Any, design: Design) -> tuple[Similarities, str]:
    """The similarities in a file, objects named as in the paper, and how the file was read.

    Raises
    ------
    DataError
        If the file cannot be read, has other objects than the paper, or lacks a similarity.
    """
    from thali._data.kinds import SIMILARITIES
    from thali._reading import layout_recognition

    data, how = layout_recognition.read_data(path, SIMILARITIES)
    named = {label.casefold(): label for label in design.labels}
    given = [label.strip().casefold() for label in data.labels]
    wrong = {
        "missing": [label for key, label in named.items() if key not in given],
        "unknown": [
            label for key, label in zip(given, data.labels, strict=True) if key not in named
        ],
    }
    if any(wrong.values()):
        differences = "; ".join(
            f"{what}: {shorten(labels)}" for what, labels in wrong.items() if labels
        )
        raise DataError(
            f"{Path(path).name}: The objects must be the {len(named)} of the paper,"
            f" {', '.join(design.labels)}; {differences}. Label the rows and columns with them."
        )
    pairs = len(given) * (len(given) - 1) // 2
    if data.values.size < pairs:
        raise DataError(
            f"{Path(path).name}: The file must hold all {pairs} similarities; got"
            f" {data.values.size}."
        )
    return Similarities(data.to_frame().to_numpy(), [named[key] for key in given]), how


def recomputed(settings: Settings, design: Design, data: Similarities) -> Reproduction:
    """Features, their number, the four estimators, and the result of the paper's protocol."""

    model, draws = _model(design), settings.pick(*design.draws)
    model.fit(
        data,
        draws,
        tune=max(draws // 4, 50),
        chains=settings.pick(2, 4, 8),
        thin=design.thin,
        cores=settings.cores,
        random_seed=settings.random_seed,
        progressbar=settings.progressbar,
    )
    features, quantities = tables.feature_table(design, model), tables.quantity_table(design, model)
    found = Reproduction(
        tables={
            f"{design.table}: features, their probability, and their mean weight"
            " where present": features.drop(columns="members"),
            "Section 6: the paper's other figures": quantities,
            "Fig. 4: probability of each number of features": tables.number_table(model),
            "Section 4: the four estimators": tables.estimator_table(model),
            "Section 4: their features and weights": tables.weight_table(model),
        },
        remarks=tables.remarks(design, model, features),
        pictures={
            "figure-4": lambda: number_of_features(model),
            "features": lambda: model.plot("features"),
            "similarities": lambda: model.plot("predictions"),
            "overlap": lambda: overlap(model),
        },
        interrupted=model._interrupted_,
    )
    if not found.interrupted:
        protocol = {"draws": settings.pick(100, 1000, 1000), "tune": settings.pick(10, 100, 100)}
        repeats, found.interrupted = _repeats(
            settings, design, data, [*features["members"]][:-1], protocol
        )
        if repeats:
            title = (
                f"The paper's sampler, run {len(repeats)} times: 10 chains, burn-in"
                f" {10 * protocol['tune']}, {protocol['draws']} draws, lag 10"
            )
            found.tables[title] = tables.repeats_table(features, quantities, repeats)
            found.remarks.append(tables.on_repeats(features, repeats))
    return found


def _model(design: Design) -> AdditiveClustering:
    return AdditiveClustering(sigma=design.sigma, alpha=ALPHA, weight_prior=(1.0, RATE))


def _repeats(
    settings: Any, design: Any, data: Any, members: Any, protocol: Any
) -> tuple[list[dict[Any, Any]], bool]:
    """Results of several runs of the paper's sampler for these features, and whether Ctrl-C
    came."""
    number, runs = settings.pick(2, 3, 10), []
    progress = Progress(settings.progressbar, "the paper's sampler", number, "runs")
    with progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the runs are to show this
        warnings.simplefilter("ignore", InterruptedWarning)
        try:
            for run in range(number):
                model = use_published_sampler(_model(design))
                seed = np.random.SeedSequence(settings.random_seed, spawn_key=(1, run))
                budget = protocol | {"thin": 10, "chains": 10, "cores": settings.cores}
                model.fit(data, **budget, random_seed=seed, progressbar=False)
                if model._interrupted_:
                    return runs, True
                runs.append(_summary(design, model, members))
                progress.update(run + 1)
        except KeyboardInterrupt:  # before the first draw
            return runs, True
    return runs, False


def _summary(design: Design, model: AdditiveClustering, members: list[Any]) -> dict[Any, Any]:
    present = find_presence(model._view, members).astype(float)
    posterior = model.posterior_["posterior"].dataset
    whole = np.stack(
        [posterior[name].values.astype(float) for name in ("n_features", "log_likelihood")]
    )
    quantities = tables.quantity_table(design, model)
    return {
        "probability": present.mean(axis=(1, 2)),
        "r_hat": compute_diagnostics(present)[1],
        "r_hat of the whole": compute_diagnostics(whole)[1],
        "quantities": dict(zip(quantities["quantity"], quantities["here"], strict=True)),
    }


def _needs(design: Design, what: str, source: str, named: str) -> dict[str, Any]:
    reader: Callable[[Path], Any] = partial(read, design=design)
    return {
        "needs": f"a table of the similarities of {what} ({source})",
        "reads": reader,
        "named": (named,),
    }


ENTRIES = (
    Entry(
        "additive-numbers",
        PAPER,
        "Table 1 and Fig. 4(a): features of the numbers 0 to 9",
        {"small": "seconds", "standard": "a minute", "full": "ten minutes"},
        numbers,
    ),
    Entry(
        "additive-countries",
        PAPER,
        "Table 2 and Fig. 4(b): features of 16 countries",
        {"small": "seconds", "standard": "half a minute", "full": "five minutes"},
        countries,
        **_needs(COUNTRIES, "the 16 countries", "Navarro & Lee 2002", "countries"),
    ),
    Entry(
        "additive-letters",
        PAPER,
        "Table 3 and Fig. 4(c): features of the capital letters",
        {"small": "seconds", "standard": "two minutes", "full": "ten minutes"},
        letters,
        **_needs(LETTERS, "the letters A to Z", "Gibson, Osser, Schiff & Smith 1963", "letters"),
    ),
)
