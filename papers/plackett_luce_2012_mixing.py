"""Archambeau & Caron (2012), Table 3: effective draws of the samplers of both models, and what one
costs."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._classify.sparse_logit.markov_chain import CoefficientChain
from thali._posterior.summary_table import compute_diagnostics

from .plackett_luce_2012_data import (
    GIBBS,
    LOGIT,
    PAPER,
    STUDIES,
    DataSet,
    ages,
    digest,
    read,
    split,
)
from .reproduction_entry import Entry, Reproduction, Settings, finished_parts
from .samplers.holmes_held_2006 import HolmesHeldChain
from .samplers.plackett_luce_2012 import published

if TYPE_CHECKING:
    import pandas


# Chains of both models that are run and timed one by one, without what a fit adds -----------------


def plackett_luce_chain(
    X: Any,
    labels: Any,
    *,
    is_published: bool,
    draws: int = 1,
    tune: int = 0,
    seed: Any = 0,
    a: Any = None,
) -> Any:
    """A chain of Plackett–Luce regression on standardised covariates."""
    from thali._classify.plackett_luce.chain_state import repeat_rows, sort_rows_by_class
    from thali._classify.plackett_luce.markov_chain import WeightChain, build_gibbs_settings
    from thali._classify.plackett_luce.nonnegative_columns import PlackettLuceDesign
    from thali._data.classification_data import merge_rows

    classes, codes = np.unique(labels, return_inverse=True)
    data = merge_rows(X, codes)
    design = PlackettLuceDesign.fit(
        data.matrix, [f"x{j}" for j in range(X.shape[1])], counts=data.counts
    )
    W, codes = repeat_rows(data._replace(matrix=design.apply(data.matrix)))
    settings = build_gibbs_settings(W.size, a, (1e-3, 1e2), 1.0, draws, tune, 1, 1)
    if is_published:
        settings = replace(settings, sampler="exchange", sweep=published)
    return WeightChain(
        settings,
        sort_rows_by_class(W, codes, len(classes)),
        len(classes),
        np.random.default_rng(seed),
    )


def logit_chain(
    X: Any,
    labels: Any,
    kind: type[CoefficientChain] = CoefficientChain,
    *,
    draws: int = 1,
    tune: int = 0,
    seed: Any = 0,
    wide: Any = None,
) -> Any:
    """A chain of the sparse logit on standardised covariates, its reference the last class."""
    from thali._classify.covariates_and_labels import compute_standardization
    from thali._classify.sparse_logit.markov_chain import (
        CoefficientPrior,
        build_coefficient_problem,
    )
    from thali._data.classification_data import merge_rows

    classes, codes = np.unique(labels, return_inverse=True)
    prior = CoefficientPrior(None, 1.0, 1.0, True)
    data = merge_rows(X, codes)
    z = compute_standardization(data.matrix, counts=data.counts).apply(data.matrix)
    problem = build_coefficient_problem(
        z, data.codes, len(classes), len(classes) - 1, prior, wide, data.counts
    )
    return kind(problem, None, np.random.default_rng(seed), draws, tune, 1)


def seconds(make: Callable[..., Any], sweeps: int) -> float:
    """CPU seconds of a sweep, compiling and the first sweep not counted; `make` takes `draws`."""
    chain = make(draws=sweeps + 1)
    chain.run_until(1)
    begin = time.process_time()
    chain.run_until(sweeps + 1)
    return (time.process_time() - begin) / sweeps


PUBLISHED, RECOMMENDED = "PL, published", "PL, recommended"
HOLMES_HELD, POLYA_GAMMA = "logit, Holmes & Held", "logit, Polya-Gamma"
FIXED = "PL, published, a = 1"  # of lenses alone: the paper's 2916 draws
OF_PAPER = {PUBLISHED: GIBBS, HOLMES_HELD: LOGIT}

PREDICTED = 20  # rows of the other half whose log odds are followed
DRAWS = 5000  # in the paper, after as many
_MIN_SUM = 1e-290


class Size(NamedTuple):
    """How much to run: random halves, chains of each, sweeps kept of each chain, after as many."""

    splits: int
    chains: int
    draws: int


SIZES = {"small": Size(1, 2, 60), "standard": Size(1, 4, DRAWS), "full": Size(5, 4, DRAWS)}


class Yield(NamedTuple):
    """The results of a sampler on one half of the data."""

    seconds: float  # CPU, a sweep
    # smallest ESS of the weights or coefficients in a chain, by its autocorrelations, mean over
    # chains
    single: float
    together: float  # smallest bulk ESS over all chains, of log-likelihood and predicted log odds
    r_hat: float  # the largest of these


def table_3(settings: Settings) -> Reproduction:
    """Smallest effective sample size and time of an effective draw."""
    data_sets = [
        (ages(data) or data) if data.design.name == "Lenses" else data
        for data in read(settings.data, STUDIES)
    ]
    size = SIZES[settings.size]
    found, interrupted = _yields(settings, size, data_sets)
    if not found:
        raise KeyboardInterrupt
    halves = "One random half" if size.splits == 1 else f"{size.splits} random halves"
    return Reproduction(
        {
            f"Table 3: as the paper, smallest ESS of {size.draws:,} draws of single chains": _table(
                found, _as_paper
            ),
            f"Over {size.chains} chains: log-likelihood and predicted log odds": _table(
                found, _over_chains
            ),
        },
        [
            f"{halves} of each data set, {size.chains} chains of {size.draws:,} + "
            f'{size.draws:,} sweeps, one thread. "sweep" and "effective draw" are CPU times of one, as ratios to '
            "those of Holmes & Held's logit on the same data, above 1: slower. Paper: 20 halves, Matlab.",
            "The first table follows the paper: weights as they are drawn (their sum, which"
            " predictions do not depend on, included) or coefficients, the worst one, by the"
            " initial monotone sequence of autocorrelations of a single chain. Such a chain may"
            " look well mixed where it never saw the other modes of the posterior; the second"
            " table, where chains from different starts must agree, is the one to go by. There"
            f" the log odds are of {PREDICTED} rows of the other half.",
            *_on_speed(found),
            "Lenses stands for its age from the rest, as in Table 2. The paper's 2,916 effective"
            " draws of PL there are those of a that is fixed, or hardly moves: compare the row a ="
            " 1.",
            f"Read were {'; '.join(data.sentence for data in data_sets)}.",
        ],
        interrupted=interrupted,
    )


# chains -------------------------------------------------------------------------------------------


def samplers_of(data: DataSet) -> dict[str, Callable[..., Any]]:
    """By name, functions of covariates and labels that make a chain."""
    found: dict[str, Callable[..., Any]] = {
        PUBLISHED: partial(plackett_luce_chain, is_published=True),
        RECOMMENDED: partial(plackett_luce_chain, is_published=False),
        HOLMES_HELD: partial(logit_chain, kind=HolmesHeldChain),
        POLYA_GAMMA: logit_chain,
    }
    if data.design.name == "Lenses":
        found[FIXED] = partial(plackett_luce_chain, is_published=True, a=1.0)
    return found


def _yields(
    settings: Settings, size: Size, data_sets: Sequence[DataSet]
) -> tuple[dict[Any, Any], bool]:
    """The results of each sampler on each data set, one entry a half; and whether Ctrl-C came."""

    def record(data: DataSet, half: int, name: str, make: Callable[..., Any]) -> dict[Any, Any]:
        numbers = list(_yield(settings, size, data, half, name, make))
        return {"task": data.task, "sampler": name, "yield": numbers}

    parts = {
        f"{half} {place} {name}": partial(record, data, half, name, make)
        for half in range(size.splits)
        for place, data in enumerate(data_sets)
        for name, make in samplers_of(data).items()
    }
    data = [(each.task, digest(each)) for each in data_sets]
    records, interrupted = finished_parts(
        settings, "samplers", {"size": list(size)}, data, parts, ("sampling", "samplers")
    )
    found: dict[str, dict[str, list[Yield]]] = {}
    for each in records:
        found.setdefault(each["task"], {}).setdefault(each["sampler"], []).append(
            Yield(*each["yield"])
        )
    return found, interrupted


def _yield(
    settings: Settings, size: Size, data: DataSet, half: int, name: str, make: Callable[..., Any]
) -> Yield:
    seeds = np.random.SeedSequence(
        settings.random_seed, spawn_key=(int(digest(data)[:8], 16), half)
    ).spawn(2)
    train, test = split(data, np.random.default_rng(seeds[0]))
    X, labels = data.covariates.to_numpy(), data.labels
    make(X[train], labels[train]).run_until(1)  # compiles, if that has not been done
    spent, single, followed = 0.0, [], []
    for seed in seeds[1].spawn(size.chains):
        chain = make(X[train], labels[train], draws=size.draws, tune=size.draws, seed=seed)
        begin = time.process_time()
        chain.run_until(size.draws)  # the half that is not recorded, in one go
        spent += time.process_time() - begin
        draws, odds, likelihoods = _drawn(chain, X[train], X[test][:PREDICTED], name)
        single.append(np.nanmin(single_chain_ess(draws)))
        followed.append(np.column_stack([likelihoods, odds]))
    ess, r_hat = compute_diagnostics(np.moveaxis(np.array(followed), -1, 0))
    each = spent / (size.chains * size.draws)
    return Yield(each, float(np.mean(single)), float(np.nanmin(ess)), float(np.nanmax(r_hat)))


def _drawn(
    chain: Any, train: np.ndarray, new: np.ndarray, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The second half of a chain: weights or coefficients, log odds of the new rows,
    log-likelihood; by draw."""
    if name in (HOLMES_HELD, POLYA_GAMMA):
        from thali._classify.covariates_and_labels import compute_standardization

        chain.run_until(chain.total)
        free = np.arange(chain.problem.classes) != chain.problem.reference
        coefs = chain.record.coef[:, free]
        z = compute_standardization(train).apply(new)
        odds = coefs[..., :-1] @ z.T + coefs[..., -1:]
        return (
            coefs[..., :-1].reshape(len(coefs), -1),
            odds.reshape(len(coefs), -1),
            chain.record.log_likelihood,
        )
    from thali._classify.plackett_luce.chain_state import LOG_MASS
    from thali._classify.plackett_luce.nonnegative_columns import PlackettLuceDesign

    masses = np.empty(chain.total - chain.sweeps)
    for draw in range(len(masses)):  # chains do not record the sum of the weights
        chain.run_until(chain.sweeps + 1)
        masses[draw] = np.exp(min(chain.state.real[LOG_MASS], 700.0))
    weights = chain.record.weights
    W = PlackettLuceDesign.fit(train, [f"x{j}" for j in range(train.shape[1])]).apply(new)
    logs = np.log(np.maximum(weights @ W.T, _MIN_SUM))
    odds = (logs[:, :-1] - logs[:, -1:]).reshape(len(weights), -1)
    return weights.reshape(len(weights), -1) * masses[:, None], odds, chain.record.log_likelihood


def single_chain_ess(draws: np.ndarray) -> np.ndarray:
    """Effective sample size of each column of one chain, by Geyer's initial monotone sequence; NaN
    for a constant.

    N / (−1 + 2 Σ_t Γ_t), Γ_t = ρ_2t + ρ_2t+1 up to the first that is not positive, none larger than
    those before.
    """
    n = len(draws)
    peak = np.abs(draws).max(axis=0)
    scaled = draws / np.where(peak > 0.0, peak, 1.0)
    size = 2 ** (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(scaled - scaled.mean(axis=0), size, axis=0)
    covariances = np.fft.irfft(np.abs(spectrum) ** 2, size, axis=0)[: n - n % 2]
    varying = np.ptp(draws, axis=0) > 0.0
    rho = covariances / np.where(varying, covariances[0], 1.0)
    pairs = rho[0::2] + rho[1::2]
    positive = np.cumprod(pairs > 0.0, axis=0).astype(bool)
    monotone = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=0)
    return np.where(varying, n / np.maximum(2.0 * monotone.sum(axis=0) - 1.0, 1.0 / n), np.nan)


# tables -------------------------------------------------------------------------------------------


def _table(
    found: Mapping[str, Mapping[str, list[Yield]]], row: Callable[..., Any]
) -> "pandas.DataFrame":
    import pandas as pd

    rows = []
    for task, of_task in found.items():
        reference = _mean(of_task[HOLMES_HELD]) if HOLMES_HELD in of_task else None
        design = next(design for design in STUDIES if task.startswith(design.name))
        for name, yields in of_task.items():
            printed = design.yields.get(OF_PAPER.get(name, ""), (np.nan, np.nan))
            rows.append(
                {"data": task, "sampler": name}
                | row(_mean(yields), reference, printed, design.yields[LOGIT])
            )
    return pd.DataFrame(rows)


def _mean(yields: Sequence[Yield]) -> Yield:
    return Yield(*np.mean(yields, axis=0))


def _as_paper(
    here: Yield, reference: Yield | None, printed: tuple[Any, ...], of_logit: tuple[Any, ...]
) -> dict[str, float]:
    ours = (
        (here.seconds / reference.seconds, here.single / reference.single)
        if reference
        else (np.nan, np.nan)
    )
    theirs = printed[0] / of_logit[0], printed[1] / of_logit[1]
    return {
        "ESS, paper": float(printed[1]),
        "ESS": here.single,
        "sweep, paper": theirs[0],
        "sweep": ours[0],
        "effective draw, paper": theirs[0] / theirs[1],
        "effective draw": ours[0] / ours[1],
    }


def _over_chains(
    here: Yield, reference: Yield | None, printed: tuple[Any, ...], of_logit: tuple[Any, ...]
) -> dict[str, float]:
    if reference is None:
        ratio = np.nan
    else:
        ratio = (here.seconds / here.together) / (reference.seconds / reference.together)
    return {"ESS": here.together, "largest R-hat": here.r_hat, "effective draw": ratio}


def _on_speed(found: Mapping[str, Mapping[str, list[Yield]]]) -> list[str]:
    """The speed of the recommended sampler relative to the published one."""
    ratios = []
    for task, of_task in found.items():
        if PUBLISHED in of_task and RECOMMENDED in of_task:
            old, new = _mean(of_task[PUBLISHED]), _mean(of_task[RECOMMENDED])
            ratios.append(
                f"{task} {(old.seconds / old.together) / (new.seconds / new.together):.2g}"
            )
    if not ratios:
        return []
    return [
        "Times that the published sampler of PL takes for an effective draw over chains, divided"
        f" by those of the recommended one: {', '.join(ratios)}. Where its R-hat is well above 1,"
        " its effective draws are a guess upwards."
    ]


ENTRIES = (
    Entry(
        "plackett-luce-table3",
        PAPER,
        "Table 3: effective draws of the samplers of Plackett-Luce regression and the logit",
        {"small": "seconds", "standard": "three minutes", "full": "twelve minutes"},
        table_3,
        "a folder with (some of) the tables named pima, iris, heart, german, lenses, wine: the"
        " classes in the last column or one called class, the other columns numbers (UCI"
        " repository)",
        partial(read, studies=STUDIES),
        named=tuple(design.key for design in STUDIES),
    ),
)
