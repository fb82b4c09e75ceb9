"""Newton's method for concave log-likelihoods."""

from collections.abc import Callable

import numpy as np

from thali._labels import shorten
from thali.errors import DataError, InPython

ROUGH = 1e-8  # gain of a step below which only the value counts; the value may be a limit
Local = tuple[float, np.ndarray, np.ndarray]  # value, gradient, information (minus the Hessian)


def ascend_concave(at: Callable[[np.ndarray], Local], start: np.ndarray, least: float = 1e-13) -> np.ndarray:
    """The maximum, by Newton steps that are halved until they gain, while the predicted gain exceeds the least."""
    here = start
    value, gradient, information = at(here)
    for _ in range(200):
        step = np.linalg.solve(information, gradient)
        if gradient @ step < least:
            return here + step
        for _ in range(60):
            found = at(here + step)
            if found[0] > value or gradient @ step < 1e-9:
                break
            step = step / 2
        here = here + step
        value, gradient, information = found
    return here


def _reaches_all(n_options: int, start: np.ndarray, end: np.ndarray) -> bool:
    """Whether arrows lead from the first option to every other one."""
    reached = np.arange(n_options) == 0
    count = 0
    while reached.sum() > count:
        count = reached.sum()
        reached[end[reached[start]]] = True
    return bool(reached.all())


_BY_MCMC = ("use EliminationByAspects('unique') with method='mcmc', whose prior keeps it finite.",)


def check_finite(
    labels: tuple[str, ...], winner: np.ndarray, loser: np.ndarray, instead: tuple[object, ...] = _BY_MCMC
) -> None:
    """Raise a DataError unless chains of wins lead from every option to every other one (Ford 1957).

    Else some scale values lie at infinity, or have no common scale; `instead` says what else can be done.
    """
    if _reaches_all(len(labels), winner, loser) and _reaches_all(len(labels), loser, winner):
        return
    from scipy.sparse import coo_array  # slow to load, and only needed to name the options
    from scipy.sparse.csgraph import connected_components

    wins = coo_array((np.ones(len(winner)), (winner, loser)), shape=(len(labels), len(labels)))
    count, group = connected_components(wins, directed=True, connection="strong")
    # A group that nobody outside of it beats, or that beats nobody.
    crossing = group[winner] != group[loser]
    for number in range(count):
        beaten = (crossing & (group[loser] == number)).any()
        beats = (crossing & (group[winner] == number)).any()
        if not (beaten and beats):
            names = [label for label, own in zip(labels, group, strict=True) if own == number]
            was = (
                "chosen over, nor rejected for,"
                if not (beaten or beats)
                else "rejected for"
                if beats
                else "chosen over"
            )
            raise DataError(
                f"There is no finite estimate: {shorten(names)} was never {was} any of the other options; leave it out",
                InPython(" (subset)"),
                ", or ",
                *instead,
            )
