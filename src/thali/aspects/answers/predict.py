"""Posterior mean choice probabilities of any sets."""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import as_label
from thali.data.choices import Choices
from thali.errors import ArgumentError

from ..draws.columns import Columns, columns_of
from ..draws.counts import outcomes
from ..draws.covariates import Lift, beta_of, names_in, values_for
from ..draws.probabilities import mean_probabilities, probability_blocks, probability_draws
from ..draws.similarities import similarity_draws
from .kind import of_similarities

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali.data.similarities import Similarities


_SETS = 200  # whose draws are held at once


def predicted_with_errors(tree: "xarray.DataTree", sets: Any, return_se: bool, covariates: Any) -> Any:
    """The probabilities of `predict_proba` by a posterior of choices, and their errors if asked for."""
    from ..likelihoods.best_worst import rule_of

    labels = [str(x) for x in tree["posterior"].dataset["option"].values]
    lapse, sizes = float(tree["constant_data"].dataset["lapse"]), tree["posterior"].sizes
    columns, rule, lift = columns_of(tree), rule_of(tree), lift_for(tree, sets, covariates)
    found = predicted(columns, labels, sets, lapse, rule, lift)
    if not return_se:
        return found
    return found, errors_of_predictions(columns, labels, sets, lapse, sizes["chain"], rule, lift)


def predicted(
    columns: Columns, labels: list[str], sets: Any, lapse: float, rule: str, lift: Lift | None = None
) -> "np.ndarray | list[np.ndarray]":
    """For pairs the probability of the first; otherwise, for each set, the probabilities of its members, or answers."""
    places, paired = places_of(sets, labels)
    if paired:
        first, second = np.array(places, np.int64).reshape(-1, 2).T
        return mean_probabilities(columns, first, second, lapse, lift)
    from ..likelihoods.set_draws import mean_over_draws

    draws_of, first = out_of_sets(columns, places, has_answers(sets), lapse, rule)
    return np.split(mean_over_draws(draws_of, columns.n_draws, int(first[-1])), first[1:-1])


def has_answers(sets: Any) -> bool:
    """Whether best and worst of the sets are wanted."""
    return isinstance(sets, Choices) and sets.worst is not None


def out_of_sets(
    columns: Columns, places: list[np.ndarray], answers: bool, lapse: float, rule: str
) -> tuple[Any, np.ndarray]:
    """What gives the probabilities of all members, or answers, in a slice of draws; and where those of a set begin."""
    from ..likelihoods.best_worst import first_answers
    from ..likelihoods.set_draws import answer_probability_draws, set_probability_draws

    start, members = np.concatenate([[0], np.cumsum([len(each) for each in places])]), np.concatenate(places)
    if not answers:
        return partial(set_probability_draws, columns, start, members, lapse), start
    return partial(answer_probability_draws, columns, start, members, lapse, rule), first_answers(start)


def errors_of_predictions(
    columns: Columns, labels: list[str], sets: Any, lapse: float, chains: int, rule: str, lift: Lift | None = None
) -> "np.ndarray | list[np.ndarray]":
    """Monte Carlo standard errors of what `predicted` gives, in the same form."""
    from thali.posterior.summary import mean_errors

    places, paired = places_of(sets, labels)
    errors, sizes = [], []
    for first in range(0, len(places), _SETS):
        some = places[first : first + _SETS]
        if paired:
            first_option, second_option = np.array(some, np.int64).reshape(-1, 2).T
            part = None if lift is None else Lift(lift.beta, lift.x[first : first + _SETS])
            draws = probability_draws(columns, first_option, second_option, lapse, part)
        else:
            draws_of, begin = out_of_sets(columns, some, has_answers(sets), lapse, rule)
            draws = draws_of(slice(0, columns.n_draws))
            sizes += np.diff(begin).tolist()
        errors.append(mean_errors(draws.T.reshape(draws.shape[1], chains, -1)))
    found = np.concatenate(errors) if errors else np.empty(0)
    return found if paired else np.split(found, np.cumsum(sizes)[:-1])


def lift_for(tree: "xarray.DataTree", sets: Any, covariates: Any) -> Lift | None:
    """What covariates of a prediction do to its pairs; None if none are given."""
    if covariates is None:
        return None
    posterior = tree["posterior"].dataset
    places, paired = places_of(sets, [str(label) for label in posterior["option"].values])
    if not paired:
        raise ArgumentError("Covariates are for comparisons of two options; give pairs of labels, [(a, b), ...].")
    names, constant = names_in(tree), tree["constant_data"].dataset
    options = constant["option_values"].values if names else np.zeros((1, 0))
    x = values_for(covariates, names, options, len(places))
    return Lift(beta_of(tree), x) if x.shape[1] else None


def outcomes_table(tree: "xarray.DataTree", pairs: Any, covariates: Any = None) -> "pandas.DataFrame":
    """A row a pair: a, b, p_a, p_tie, p_b."""
    constant, posterior = tree["constant_data"].dataset, tree["posterior"].dataset
    labels = [str(x) for x in posterior["option"].values]
    first, second = tied_places(pairs, labels, bool(constant["has_ties"]))
    total, tie = np.zeros((len(first), 3)), posterior["tie"].values.ravel()
    columns, lapse = columns_of(tree), float(constant["lapse"])
    for draws, p, q in probability_blocks(columns, first, second, lapse, lift_for(tree, pairs, covariates)):
        total += outcomes(p, q, tie[draws, None]).sum(axis=0)
    return table_of_outcomes(labels, first, second, total / columns.n_draws)


def tied_places(pairs: Any, labels: list[str], has_ties: bool) -> np.ndarray:
    """The positions of the labels of pairs, array (2, pairs), for a model that knows ties."""
    if not has_ties:
        raise ArgumentError(
            "The model knows no ties: there were none in the data, or they were not modelled; predict_proba has the "
            "probabilities of either option."
        )
    places, paired = places_of(pairs, labels)
    if not paired:
        raise ArgumentError("Give pairs of labels, [(a, b), ...]; there are no ties out of larger sets.")
    return np.array(places, np.int64).reshape(-1, 2).T


def table_of_outcomes(labels: list[str], first: Any, second: Any, found: np.ndarray) -> "pandas.DataFrame":
    """A row a pair: a, b, and the probabilities (pairs, outcomes) as p_a, p_tie, p_b."""

    from thali._tables import Table

    named = {"a": [labels[k] for k in first], "b": [labels[k] for k in second]}
    return Table(named | dict(zip(("p_a", "p_tie", "p_b"), found.T, strict=True)))


def places_of(sets: Any, labels: list[str]) -> tuple[list[np.ndarray], bool]:
    """The positions of the labels of sets, and whether they were given as a list of pairs."""
    if isinstance(sets, Choices):
        return _positions(sets.sets, labels), False
    places = _positions(sets, labels)
    return places, all(len(each) == 2 for each in places)


def _positions(sets: Any, labels: list[str]) -> list[np.ndarray]:
    where = {label: position for position, label in enumerate(labels)}
    if not isinstance(sets, Iterable):
        raise ArgumentError(f"Give pairs of labels, [(a, b), ...], larger sets, or Choices; got {type(sets).__name__}.")
    found = []
    for number, entry in enumerate(sets):
        names = [as_label(each) for each in entry] if isinstance(entry, tuple | list | np.ndarray) else [str(entry)]
        if len(names) < 2:
            raise ArgumentError(f"Entry {number} is {entry!r}; give pairs of labels, (a, b), or larger sets.")
        for name in names:
            if name not in where:
                known = ", ".join(labels[:10]) + (", ..." if len(labels) > 10 else "")
                raise ArgumentError(
                    f"Entry {number} names {name!r}, which is not an option of the data; options are {known}."
                )
        if len(set(names)) < len(names):
            double = next(name for k, name in enumerate(names) if name in names[:k])
            what = f"compares {double!r} with itself" if len(names) == 2 else f"names {double!r} twice"
            raise ArgumentError(f"Entry {number} {what}; give different options.")
        found.append(np.array([where[name] for name in names], np.int64))
    return found


def fitted_draws(tree: "xarray.DataTree", data: "Similarities") -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each measured similarity of these data, in every draw (chain, draw, pair)."""
    posterior = of_similarities(tree, "a predicted similarity")["posterior"].dataset
    shape = posterior.sizes["chain"], posterior.sizes["draw"]
    constant, sigma = (posterior[name].values.reshape(-1) for name in ("constant", "sigma"))
    mean = similarity_draws(columns_of(tree), constant, data.first, data.second)
    deviation = sigma[:, None] / np.sqrt(data.judgements)
    return mean.reshape(*shape, -1), deviation.reshape(*shape, -1)
