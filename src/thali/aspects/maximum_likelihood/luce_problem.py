"""The log-likelihood of weights given choices out of sets of any size, where every option has one aspect, its own."""

from typing import Any, NamedTuple

import numpy as np

from .slopes import Slopes


class LuceProblem(NamedTuple):
    r"""Choices out of S sets, explained by the weights of K options; of rankings, Plackett and Luce's model.

    .. math::
        q_x = \frac{w_x}{\sum_{y \in S} w_y}, \qquad p_x = (1 - \varepsilon) q_x + \varepsilon / |S|

    The methods are those of `Problem`, with a set for a pair and a member for an outcome.
    """

    counts: np.ndarray  # (places,) choices of each member of each set, set after set
    members: np.ndarray  # (places,) options
    start: np.ndarray  # (sets + 1,) where each set begins
    n_aspects: int
    lapse: float
    n_coefficients = 0
    tied = None

    @property
    def sizes(self) -> np.ndarray:
        """Members of each set."""
        return np.diff(self.start)

    @property
    def totals(self) -> np.ndarray:
        """Choices out of each set."""
        return np.add.reduceat(self.counts, self.start[:-1])

    @property
    def work(self) -> float:
        """In which the time of a fit is linear."""
        return float(len(self.totals) * self.n_aspects**2)

    def with_counts(self, counts: np.ndarray) -> "LuceProblem":
        """The same sets with other counts."""
        return self._replace(counts=counts)

    def is_concave(self) -> bool:
        """Whether there are no lapses."""
        return self.lapse == 0.0

    def chosen_and_rejected(self) -> tuple[np.ndarray, np.ndarray]:
        """How often each option was chosen, and was offered without being chosen."""
        offered = np.repeat(self.totals, self.sizes)
        chosen, offered = (np.bincount(self.members, each, self.n_aspects) for each in (self.counts, offered))
        return chosen, offered - chosen

    def strength(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The weight of each set."""
        return np.add.reduceat(weights[self.members], self.start[:-1])

    def _shares(self, weights: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q of every place, and p."""
        total, size = (np.repeat(each, self.sizes) for each in (self.strength(weights, beta), self.sizes))
        q = np.where(total > 0.0, weights[self.members] / np.where(total > 0.0, total, 1.0), 1.0 / size)
        return q, (1.0 - self.lapse) * q + self.lapse / size

    def probabilities(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Of every place."""
        return self._shares(weights, beta)[1]

    def terms(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The log-likelihood of each set, without multinomial coefficients."""
        from scipy.special import xlogy

        return np.add.reduceat(xlogy(self.counts, self.probabilities(weights, beta)), self.start[:-1])

    def slopes(self, weights: np.ndarray, beta: np.ndarray) -> Slopes:
        """The derivatives at a point.

        With r = (1 - lapse) q / p the gradient of ln p_x is r_x (e_x - q), its Hessian
        r_x (1 - r_x) (e_x - q)(e_x - q)' - r_x (diag(q) - qq').
        """
        q, p = self._shares(weights, beta)
        r = np.where(p > 0.0, (1.0 - self.lapse) * q / np.where(p > 0.0, p, 1.0), 1.0)
        decided = np.repeat(self.strength(weights, beta) > 0.0, self.sizes)
        slope = np.where(decided, self.counts * r, 0.0)
        bend = slope * (1.0 - r)
        slopes, both = (np.add.reduceat(each, self.start[:-1]) for each in (slope, slope + bend))
        expected = p * r**2 * np.repeat(self.totals, self.sizes) * decided
        of_set = np.repeat(np.add.reduceat(expected, self.start[:-1]), self.sizes)

        def by_option(values: np.ndarray) -> np.ndarray:
            return np.bincount(self.members, values, self.n_aspects)

        rest = np.repeat(slopes, self.sizes) * q
        shares, bends = self._rows(q), self._rows(bend)
        mixed = (bends.T @ shares).toarray()
        hessian = (shares.T @ shares.multiply(both[:, None]).tocsr()).toarray() - mixed - mixed.T
        hessian[np.diag_indices_from(hessian)] += by_option(bend - rest)
        information = by_option(expected * (1.0 - 2.0 * q) + q**2 * of_set)
        return Slopes(by_option(slope - rest), hessian, information)

    def scores(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Gradients of the log-likelihoods of parts of the choices; `tally` (parts, places) is sparse."""
        from scipy.sparse import csr_array

        q, p = self._shares(weights, beta)
        r = np.where(p > 0.0, (1.0 - self.lapse) * q / np.where(p > 0.0, p, 1.0), 1.0)
        slope = tally.multiply(r * np.repeat(self.strength(weights, beta) > 0.0, self.sizes)[None]).tocsr()
        places = np.arange(len(self.members))
        ones, set_of = np.ones(len(places)), np.repeat(np.arange(len(self.sizes)), self.sizes)
        to_option = csr_array((ones, (places, self.members)), shape=(len(places), self.n_aspects))
        to_set = csr_array((ones, (places, set_of)), shape=(len(places), len(self.sizes)))
        return (slope @ to_option - (slope @ to_set) @ self._rows(q)).toarray()

    def _rows(self, values: np.ndarray):
        """Values of the places as a sparse array, sets by options."""
        from scipy.sparse import csr_array

        return csr_array((values, self.members, self.start), shape=(len(self.start) - 1, self.n_aspects))

    def slope_at_zero(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The derivative by each weight itself (not by its logarithm), which at a boundary must not be positive."""
        q, p = self._shares(weights, beta)
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where(self.counts > 0.0, self.counts * (1.0 - self.lapse) / p, 0.0)
        total = np.repeat(self.strength(weights, beta), self.sizes)
        all_of_set = np.repeat(np.add.reduceat(rate * q, self.start[:-1]), self.sizes)
        by_place = np.where(total > 0.0, (rate - all_of_set) / np.where(total > 0.0, total, 1.0), 0.0)
        return np.bincount(self.members, by_place, self.n_aspects)
