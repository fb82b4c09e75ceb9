"""The posterior predictive checks of data other than plain pairs, and what was observed beside what is predicted."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.seeds import streams
from thali._posterior.interval import INTERVAL, TAILS
from thali.errors import DataError

from ..draws.columns import Columns, columns_of
from ..draws.counts import outcomes
from ..draws.covariates import cells_of
from ..draws.similarities import judgements_of, similarity_draws
from ..draws.tree import MAX_PAIRS
from ..draws.triplets import answered, triplet_blocks
from ..likelihoods.best_worst import Answers, answer_probabilities, possible_answers, rule_of
from ..likelihoods.set_draws import set_probability_draws
from .check import (
    ANSWER,
    MEMBER,
    MOST_SIMILAR,
    ROWS,
    SIMILARITY,
    TIED,
    blocks,
    cells_to_check,
    compared_draws,
    discrepancy_of,
    finished_table,
    replicated_rows,
    spaced,
    spaced_draws,
    whole_counts,
)
from .kind import of_triplets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas
    import xarray

    from thali._data.triplets import Triplets


def set_check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """Each proportion of each set against replicates, Multinomial(n, p̃), by sum (x - n p̃)² / (n p̃)."""
    import pandas as pd

    observed, constant = tree["observed_data"].to_dataset(), tree["constant_data"].to_dataset()
    sizes, members, lapse = constant["set_size"].values, constant["member"].values, float(constant["lapse"])
    labels = constant["option"].values
    named = {
        "alternative": labels[members].tolist(),
        "offered": observed["set"].values[np.repeat(np.arange(len(sizes)), sizes)].tolist(),
    }
    counts = whole_choices(observed["chosen"].values, named)
    start = np.concatenate([[0], np.cumsum(sizes)])
    totals = np.add.reduceat(counts, start[:-1])
    columns = spaced(columns_of(tree), len(counts))
    rng = streams(random_seed, 1)[0]

    rows, discrepancy = [], np.zeros((2, columns.n_draws))
    for sets in blocks(len(sizes), columns.n_draws * int(sizes.max())):
        places = slice(start[sets.start], start[sets.stop])
        first = start[sets.start : sets.stop + 1] - places.start
        p = set_probability_draws(columns, first, members[places], lapse)
        parts = np.split(p, first[1:-1], axis=1)
        drawn = [rng.multinomial(n, part) for n, part in zip(totals[sets], parts, strict=True)]
        replicates, p = np.concatenate(drawn, axis=1).T, p.T
        x, n = counts[places, None], np.repeat(totals[sets], sizes[sets])[:, None]
        rows.append(replicated_rows(x, n, p, replicates))
        discrepancy += [discrepancy_of(each, n * p) for each in (x, replicates)]
    return finished_table(pd.DataFrame(named), rows, discrepancy, MEMBER)


def whole_choices(counts: np.ndarray, named: dict[Any, Any]) -> np.ndarray:
    """The counts of choices as whole numbers; a DataError names one that is none."""
    fractional = np.flatnonzero(counts != np.floor(counts))
    if len(fractional):
        k = fractional[0]
        raise DataError(
            f"The check needs whole numbers of choices, of which it draws replicates; {named['alternative'][k]!r} has "
            f"the weight {counts[k]:g} out of {named['offered'][k]}. Fit unweighted counts to use it."
        )
    return counts.astype(np.int64)


# The posterior predictive check of paired comparisons with ties -------------------------------------------------------


def tied_check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """Choices and ties of each pair against replicates, Multinomial(n, outcomes of p̃ and nu)."""
    import pandas as pd

    constant = tree["constant_data"].to_dataset()
    labels = constant["option"].values
    first, second = constant["first"].values, constant["second"].values
    wins, losses = whole_counts(tree, labels[first], labels[second])
    ties = tree["observed_data"].dataset["ties"].values
    if (ties != np.floor(ties)).any():
        raise DataError("The check needs whole numbers of ties, of which it draws replicates.")
    counts = np.stack([wins, ties.astype(np.int64), losses], axis=1)
    columns, number = columns_of(tree), 3 * len(cells_of(tree)["pair"])
    kept = spaced_draws(columns.n_draws, number)
    tie = tree["posterior"].dataset["tie"].values.ravel()[kept]
    cells = cells_to_check(tree, 3, spaced(columns, number), kept)
    n_of_cells, rng = cells.n, streams(random_seed, 1)[0]

    rows, discrepancy, named = [], np.zeros((2, len(kept))), []
    for pairs, block in cells.blocks():
        p = cells.probabilities(block)
        of_outcome = outcomes(p, 1.0 - p, tie)  # (cells, draws, outcomes)
        n = counts[pairs].sum(axis=1)
        replicates = cells.added(pairs, rng.multinomial(n_of_cells[block, None], of_outcome))
        of_outcome = cells.mean(pairs, block, of_outcome)
        for outcome in range(3):
            x, expected, drawn = counts[pairs, outcome, None], of_outcome[..., outcome], replicates[..., outcome]
            discrepancy += [discrepancy_of(each, n[:, None] * expected) for each in (x, drawn)]
            if outcome < 2:
                rows.append(replicated_rows(x, n[:, None], expected, drawn))
                names = {"a": labels[first[pairs]], "b": labels[second[pairs]], "tied": outcome == 1}
                named.append(pd.DataFrame(names))
    return finished_table(pd.concat(named, ignore_index=True), rows, discrepancy, TIED)


# The posterior predictive check of best-worst choices: how often was each option named? -------------------------------

NAMED = ("best", "worst")


Who = tuple[Columns, np.ndarray]  # the columns of people, and how often they answered each set (sets, draws or 1)


class NamedOptions(NamedTuple):
    """How often options were named, rows: each that was offered as the best, then each as the worst."""

    labels: list[str]
    named: list[str]  # of NAMED
    observed: np.ndarray  # (rows,) times
    n: np.ndarray  # (rows,) times offered
    probability: np.ndarray  # (rows, draws)
    replicates: np.ndarray  # (rows, draws); 0 without a random stream


def named_options(tree: "xarray.DataTree", who: "Sequence[Who]", rng: np.random.Generator | None) -> NamedOptions:
    """What the data say of each option, and the draws, by the answers of these people."""
    constant, counts = tree["constant_data"].to_dataset(), tree["observed_data"].dataset["chosen"].values
    sizes, members, labels = constant["set_size"].values, constant["member"].values, constant["option"].values
    start, n_draws = np.concatenate([[0], np.cumsum(sizes)]), who[0][0].n_draws
    answers = possible_answers(start)
    totals = np.add.reduceat(counts, answers.start[:-1])
    observed = by_option(answers, members, len(labels)).T @ counts
    offered = np.tile(np.bincount(members, np.repeat(totals, sizes), len(labels)), 2)
    expected, replicates = np.zeros((2, len(observed), n_draws))
    for sets in blocks(len(sizes), n_draws * len(who) * int(answers.sizes.max())):
        first = start[sets.start : sets.stop + 1]
        part = members[first[0] : first[-1]]
        of_part = possible_answers(first - first[0])
        sums = by_option(of_part, part, len(labels)).T
        for columns, times in who:
            p = answer_probabilities(
                columns.unique_weights, first - first[0], part, float(constant["lapse"]), rule_of(tree)
            )
            n = times[sets]
            expected += sums @ (np.repeat(n, of_part.sizes, axis=0) * p.T)
            if rng is not None:
                parts = np.split(p, of_part.start[1:-1], axis=1)
                drawn = [rng.multinomial(k, each) for k, each in zip(n, parts, strict=True)]
                replicates += sums @ np.concatenate(drawn, axis=1).T
    rows = np.flatnonzero(offered > 0)
    return NamedOptions(
        np.tile(labels, 2)[rows].tolist(),
        np.repeat(NAMED, len(labels))[rows].tolist(),
        observed[rows],
        offered[rows],
        expected[rows] / offered[rows, None],
        replicates[rows],
    )


def alike(tree: "xarray.DataTree") -> list[Who]:
    """All people as one, with as many draws as can be replicated."""
    counts, sizes = tree["observed_data"].dataset["chosen"].values, tree["constant_data"].dataset["set_size"].values
    first = np.cumsum(sizes * (sizes - 1)) - sizes * (sizes - 1)
    return [(spaced(columns_of(tree), len(counts)), np.add.reduceat(counts, first)[:, None])]


def best_worst_check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """How often each option was the best, and the worst, against replicates; the discrepancy is sum (x - E)² / E."""
    whole_answers(tree["observed_data"].dataset["chosen"].values)
    return checked_options(named_options(tree, alike(tree), streams(random_seed, 1)[0]))


def whole_answers(counts: np.ndarray) -> np.ndarray:
    """The counts of best-worst choices as whole numbers."""
    if (counts != np.floor(counts)).any():
        raise DataError(
            "The check needs whole numbers of choices, of which it draws replicates, and these are weighted. Fit "
            "unweighted counts to use it."
        )
    return counts.astype(np.int64)


def checked_options(found: NamedOptions) -> "pandas.DataFrame":
    """What was said of each option against its replicates."""
    import pandas as pd

    x, n = found.observed[:, None], found.n[:, None]
    rows = [replicated_rows(x, n, found.probability, found.replicates)]
    discrepancy = np.array([discrepancy_of(each, n * found.probability) for each in (x, found.replicates)])
    return finished_table(pd.DataFrame({"option": found.labels, "named": found.named}), rows, discrepancy, ANSWER)


def by_option(answers: Answers, members: np.ndarray, n_options: int) -> Any:
    """A sparse matrix that sums values of answers to those of each option as the best, then of each as the worst."""
    from scipy.sparse import csr_array

    rows = np.tile(np.arange(len(answers.best)), 2)
    columns = np.concatenate([members[answers.best], n_options + members[answers.worst]])
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(answers.best), 2 * n_options))


# The posterior predictive check of similarities: which of them does the model miss? -----------------------------------


def similarity_check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """Each measured similarity against replicates by the fitted model, s_rep ~ Normal(mu, sigma² / n).

    p_value = 2 min(P(s_rep < s), P(s_rep > s)), the probabilities of each draw averaged; overall it is
    P(sum (s_rep - mu)² n / sigma² >= sum (s - mu)² n / sigma²), where the left sum has a chi-square distribution.
    """
    posterior, constant = tree["posterior"].dataset, tree["constant_data"].dataset
    first, second, judgements = constant["first"].values, constant["second"].values, judgements_of(tree)
    every = columns_of(tree)
    draws, columns = spaced_draws(every.n_draws, len(first)), spaced(every, len(first))
    own, sigma = (posterior[name].values.ravel()[draws] for name in ("constant", "sigma"))

    def moments(pairs: slice) -> tuple[np.ndarray, np.ndarray]:
        mu = similarity_draws(columns, own, first[pairs], second[pairs])
        return mu, sigma[:, None] / np.sqrt(judgements[pairs])

    return checked_similarities(tree, random_seed, len(draws), judgements, moments)


def checked_similarities(
    tree: "xarray.DataTree",
    random_seed: Any,
    draws: int,
    judgements: np.ndarray,
    moments: "Callable[[slice], tuple[np.ndarray, np.ndarray]]",
) -> "pandas.DataFrame":
    """The table; `judgements`: of each pair; `moments`: mean and deviation of replicates of some (draws, pairs)."""
    import pandas as pd
    from scipy.special import ndtr
    from scipy.stats import chi2

    from thali._tables import Table

    constant = tree["constant_data"].dataset
    labels, first, second = constant["option"].values, constant["first"].values, constant["second"].values
    observed = tree["observed_data"].dataset["similarity"].values
    rng = streams(random_seed, 1)[0]

    rows, squares = [], np.zeros(draws)
    for pairs in blocks(len(observed), draws):
        mu, deviation = moments(pairs)
        distance = (observed[pairs] - mu) / deviation
        squares += (distance**2).sum(axis=1)
        replicates = mu + deviation * rng.standard_normal(mu.shape)
        low, high = np.quantile(replicates, TAILS, axis=0)
        below = ndtr(distance).mean(axis=0)
        outside = (ndtr((low - mu) / deviation) + ndtr((mu - high) / deviation)).mean(axis=0)
        predicted, p_value = mu.mean(axis=0), 2.0 * np.minimum(below, 1.0 - below)
        rows.append((predicted, low, high, p_value, outside))
    predicted, low, high, p_value, outside = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    frame = Table(
        pd.DataFrame(
            {
                "object": labels[first].tolist(),
                "other": labels[second].tolist(),
                "n": judgements,
                "observed": observed,
                "predicted": predicted,
                "low": low,
                "high": high,
                "p_value": p_value,
                "missed": (observed < low) | (observed > high),
            }
        )
    ).sort_values("p_value", kind="stable", ignore_index=True)
    overall = float(chi2.sf(squares, len(observed)).mean())
    frame.attrs |= {"p_value": overall, "interval": INTERVAL, "expected_missed": float(outside.sum())}
    frame.attrs |= {"draws": draws, ROWS: SIMILARITY}
    return frame


# The posterior predictive check of triplets: which pairs are named more or less often than the model says? ------------


def triplet_check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """How often each pair was named, over the sets that hold it, against replicates, by sum (x - E x)² / E x."""
    data = answered(of_triplets(tree, "check"))
    posterior = tree["posterior"].sizes
    kept = spaced_draws(posterior["chain"] * posterior["draw"], len(data.counts))
    rng = streams(random_seed, 1)[0]

    def drawn(places: slice, sets: slice) -> tuple[np.ndarray, np.ndarray]:
        own = data.start[sets.start : sets.stop + 1] - places.start
        each = triplet_blocks(tree, own, data.first[places], data.second[places])
        p = np.concatenate([p for _, p in each], axis=1)[kept].T
        totals = np.add.reduceat(data.counts[places], own[:-1]).astype(np.int64)
        replicates = [
            rng.multinomial(n, (p[a:z] / p[a:z].sum(axis=0)).T).T
            for n, a, z in zip(totals, own[:-1], own[1:], strict=True)
        ]
        return np.concatenate(replicates), np.repeat(totals, np.diff(own))[:, None] * p

    return checked_triplets(data, len(kept), drawn)


def checked_triplets(
    data: "Triplets", draws: int, drawn: "Callable[[slice, slice], tuple[np.ndarray, np.ndarray]]"
) -> "pandas.DataFrame":
    """The table of a check of triplets; `drawn`: of places of some sets replicates of the answers, and their means."""
    import pandas as pd

    if not np.array_equal(data.counts, np.floor(data.counts)):
        raise DataError(
            "The check needs whole numbers of answers, of which it draws replicates; these have weights. Fit "
            "unweighted counts to use it."
        )
    keys, pair = np.unique(data.first * data.n_options + data.second, return_inverse=True)
    totals = np.add.reduceat(data.counts, data.start[:-1]).astype(np.int64)
    expected, replicates = np.zeros((2, len(keys), draws))
    for sets in blocks(len(data.sizes), draws * int(data.sizes.max())):
        places = slice(int(data.start[sets.start]), int(data.start[sets.stop]))
        found, mean = drawn(places, sets)
        np.add.at(replicates, pair[places], found)
        np.add.at(expected, pair[places], mean)
    n = np.bincount(pair, totals[data.set_of])[:, None]
    x = np.bincount(pair, data.counts)[:, None]
    labels = np.asarray(data.labels, dtype=str)
    sides = {"a": labels[keys // data.n_options], "b": labels[keys % data.n_options]}
    named = pd.DataFrame(sides | {"sets": np.bincount(pair)})
    rows = replicated_rows(x, n, expected / n, replicates)
    return finished_table(
        named, [rows], np.array([_distance(x, expected), _distance(replicates, expected)]), MOST_SIMILAR
    )


def _distance(x: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """sum (x - E x)² / E x over the pairs, draw by draw."""
    residual = (x - expected) ** 2
    return np.divide(residual, expected, out=np.zeros(residual.shape), where=expected > 0).sum(axis=0)


# How often each option was chosen, beside how often the posterior says that it is: n, observed, predicted, interval ---
#
# Of more than 2,000 rows those with the most choices are given; ``attrs["of"]`` is the number of all.


def predicted_of_pairs(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """One row a compared pair (a, b: how often a was chosen)."""
    from thali._tables import Table

    observed, constant = tree["observed_data"].to_dataset(), tree["constant_data"].to_dataset()
    wins = observed["wins"].values
    n = wins + constant["losses"].values
    drawn = np.sort(np.argsort(-n, kind="stable")[:MAX_PAIRS])
    labels = constant["option"].values.astype(object)
    a, b = (labels[constant[name].values[drawn]] for name in ("first", "second"))
    numbers = {"n": n[drawn], "observed": wins[drawn] / n[drawn]} | _predicted(compared_draws(tree, drawn))
    return _with_all(Table({"a": a, "b": b} | numbers), len(wins))


def predicted_of_sets(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """One row a member of an offered set (alternative, offered)."""
    from thali._tables import Table

    observed, constant = tree["observed_data"].to_dataset(), tree["constant_data"].to_dataset()
    counts, sizes, members = observed["chosen"].values, constant["set_size"].values, constant["member"].values
    which = np.repeat(np.arange(len(sizes)), sizes)
    n = np.bincount(which, weights=counts)
    order = np.argsort(-n, kind="stable")
    sets = np.sort(order[: max(1, int((np.cumsum(sizes[order]) <= MAX_PAIRS).sum()))])
    drawn = np.flatnonzero(np.isin(which, sets))
    start = np.concatenate([[0], np.cumsum(sizes[sets])])
    draws = set_probability_draws(columns_of(tree), start, members[drawn], float(constant["lapse"]))
    total = n[which[drawn]]
    chosen = {
        "alternative": constant["option"].values.astype(object)[members[drawn]],
        "offered": observed["set"].values.astype(object)[which[drawn]],
    }
    return _with_all(Table(chosen | {"n": total, "observed": counts[drawn] / total} | _predicted(draws)), len(members))


def predicted_of_options(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """One row an option that may be named as the best or as the worst (option, named)."""
    from thali._tables import Table

    found = named_options(tree, alike(tree), None)
    numbers = {"n": found.n, "observed": found.observed / found.n} | _predicted(found.probability.T)
    return _with_all(Table({"option": found.labels, "named": found.named} | numbers), len(found.labels))


def _predicted(draws: np.ndarray) -> dict[str, np.ndarray]:
    """Mean and interval of probabilities (draws, rows)."""
    low, high = np.quantile(draws, TAILS, axis=0)
    return {"predicted": draws.mean(axis=0), "low": low, "high": high}


def _with_all(table: "pandas.DataFrame", number: int) -> "pandas.DataFrame":
    """The table, which says how many rows there would be."""
    table.attrs |= {"of": number, "interval": INTERVAL}
    return table
