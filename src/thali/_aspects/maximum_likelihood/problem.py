"""The log-likelihood of aspect weights given paired comparisons, with its first and second
derivatives."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thali._data.choices import Choices
from thali._data.pairs import PairedComparisons
from thali._data.questions import Questions
from thali._inference.numerics.counts import compute_outcomes
from thali._model.respondent_scores import LogWeightDerivatives

from ..draws.covariate_lifts import MAX_LOG_LIFT
from .set_problems import LuceProblem, QuestionProblem

DENSE = 1_000_000  # entries of pairs x aspects above which the patterns are kept sparse
MIN_PROBABILITY = 1e-300  # stands for a probability of 0


@dataclass(frozen=True)
class PairProblem(QuestionProblem):
    r"""Choices in P pairs, explained by the weights of K aspects and the coefficients of M further
    columns.

    .. math::
        \operatorname{logit} q = \ln \sum_k w_k d_k - \ln \sum_k w_k e_k + x \beta, \qquad
        p = (1 - \varepsilon) q + \varepsilon / 2

    d says which aspects the first of a pair owns alone, e those of the second. With ties (Davidson
    1970) the last coefficient is ln nu, and the outcomes have the probabilities p, r = nu sqrt(p (1
    - p)) and 1 - p, over 1 + r.
    """

    wins: np.ndarray  # (P,) choices of the first
    losses: np.ndarray
    first: Any  # (P, K) what the first owns and the second lacks, an array or a sparse one
    second: Any
    extra: np.ndarray  # (P, M)
    lapse: float
    tied: np.ndarray | None = None  # (P,) None: a tie is no outcome

    @property
    def n_aspects(self) -> int:  # type: ignore[override]
        return self.first.shape[1]

    @property
    def work(self) -> float:
        """In which the time of a fit is linear."""
        return float(len(self.totals) * self.n_aspects**2)

    @property
    def n_coefficients(self) -> int:
        return self.extra.shape[1] + (self.tied is not None)

    @property
    def asked(self) -> Questions:  # type: ignore[override]
        """The pairs with their outcomes: the first, a tie if that is one, the second."""
        sides = (
            (self.wins, self.losses) if self.tied is None else (self.wins, self.tied, self.losses)
        )
        return Questions(len(sides) * np.arange(len(self.wins) + 1), np.column_stack(sides).ravel())

    @property
    def counts(self) -> np.ndarray:
        """Of the outcomes, pair after pair."""
        return self.asked.counts

    def with_counts(self, counts: np.ndarray) -> "PairProblem":
        """The same pairs with other counts of the outcomes."""
        wins, *tied, losses = counts.reshape(len(self.wins), -1).T
        return replace(self, wins=wins, losses=losses, tied=tied[0] if tied else None)

    def is_concave(self) -> bool:
        """Whether every pair sets one aspect against one, without lapses."""
        one_each = all(bool((side.sum(axis=1) <= 1).all()) for side in (self.first, self.second))
        return one_each and self.lapse == 0.0

    def chosen_and_rejected(self) -> tuple[np.ndarray, np.ndarray]:
        """How often what owns each aspect was chosen, and rejected."""
        wins, losses = self.wins, self.losses
        return (
            self.first.T @ wins + self.second.T @ losses,
            self.first.T @ losses + self.second.T @ wins,
        )

    def advantages(self, weights: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What speaks for the first of each pair, and for the second."""
        own, other = self.first @ weights, self.second @ weights
        if self.extra.shape[1]:
            empty = own + other == 0.0  # only the columns tell such two apart
            own, other = np.where(empty, 1.0, own), np.where(empty, 1.0, other)
            own = own * self._lifts(beta)
        return own, other

    def _lifts(self, beta: np.ndarray) -> np.ndarray:
        """Compute the factors by which the columns multiply what speaks for the first of each
        pair."""
        return np.exp(
            np.clip(self.extra @ beta[: self.extra.shape[1]], -MAX_LOG_LIFT, MAX_LOG_LIFT)
        )

    def strength(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The weight of both; 0: no aspect tells the two apart."""
        return np.asarray(self.first @ weights + self.second @ weights)

    def choice_probabilities(
        self, weights: np.ndarray, beta: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """p and 1 - p of each pair, each with all its digits."""
        q, rest = shares(*self.advantages(weights, beta))
        return (1 - self.lapse) * q + self.lapse / 2, (1 - self.lapse) * rest + self.lapse / 2

    def probabilities(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Of the outcomes, in the order of `counts`."""
        p, rest = self.choice_probabilities(weights, beta)
        if self.tied is None:
            return np.column_stack([p, rest]).ravel()
        return compute_outcomes(p, rest, np.exp(beta[-1])).ravel()

    def terms(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The log-likelihood of each pair, without binomial coefficients."""
        from scipy.special import xlogy

        p, rest = self.choice_probabilities(weights, beta)
        found = xlogy(self.wins, p) + xlogy(self.losses, rest)
        if self.tied is None:
            return found
        r = np.exp(beta[-1]) * np.sqrt(p * rest)
        return found + xlogy(self.tied, r) - self.totals * np.log1p(r)

    def compute_derivatives(self, weights: np.ndarray, beta: np.ndarray) -> LogWeightDerivatives:
        """The derivatives at a point.

        With s = d w / (d'w) and t = e w / (e'w), the shares of the aspects in either side, logit q
        has the gradient s - t and the Hessian diag(s) - ss' - diag(t) + tt'.
        """
        own, other = self.advantages(weights, beta)
        q, rest = shares(own, other)
        slope, bend, expected, of_tie = self._by_logit(q, rest, beta)
        s = scaled(self.first, weights, self.first @ weights)
        t = scaled(self.second, weights, other)
        change = s - t
        by_weights = change.T @ slope
        hessian = _gram(change, bend) - _gram(s, slope) + _gram(t, slope)
        hessian[np.diag_indices_from(hessian)] += by_weights
        squared = change**2 if isinstance(change, np.ndarray) else change.multiply(change)
        information = squared.T @ expected
        x, gradient = self.extra, by_weights
        if x.shape[1]:
            cross = change.T @ (bend[:, None] * x)
            hessian = np.block([[hessian, cross], [cross.T, x.T @ (bend[:, None] * x)]])
            gradient = np.concatenate([gradient, x.T @ slope])
            information = np.concatenate([information, (x**2).T @ expected])
        # of each pair the derivative by ln nu, the second one, and the mixed one
        if of_tie is not None:
            by_tie, bend_tie, mixed = of_tie
            cross = np.concatenate([change.T @ mixed, x.T @ mixed])[:, None]
            hessian = np.block([[hessian, cross], [cross.T, np.array([[bend_tie.sum()]])]])
            gradient = np.append(gradient, by_tie.sum())
            information = np.append(information, -bend_tie.sum())
        return LogWeightDerivatives(gradient, hessian, information)

    def compute_scores(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Gradients of the log-likelihoods of parts of the choices; `tally` (parts, outcomes) is
        sparse."""
        from scipy.sparse import csr_array

        own, other = self.advantages(weights, beta)
        q, rest = shares(own, other)
        toward, away = by_logit(q, rest, self.lapse)[:2]
        by_logit_q, tie = np.column_stack([toward, -away]), None
        if self.tied is not None:
            lean = (toward - away) / 2
            tie = compute_outcomes(*self.choice_probabilities(weights, beta), np.exp(beta[-1]))[
                :, [1]
            ]
            by_logit_q = np.column_stack([toward, lean, -away]) - tie * lean[:, None]
        pairs, per = by_logit_q.shape
        pair_of = np.repeat(np.arange(pairs), per)
        slope = tally @ csr_array(
            (by_logit_q.ravel(), (np.arange(per * pairs), pair_of)), shape=(per * pairs, pairs)
        )
        change = scaled(self.first, weights, self.first @ weights) - scaled(
            self.second, weights, other
        )
        found = [_dense(slope @ change), slope @ self.extra]
        if tie is not None:
            found.append((tally @ (np.array([0.0, 1.0, 0.0]) - tie).ravel())[:, None])
        return np.hstack(found)

    def _by_logit(self, q: np.ndarray, rest: np.ndarray, beta: np.ndarray) -> tuple[Any, ...]:
        """Of each pair the first and second derivative by logit q, the expected information, and
        those of ties."""
        toward, away, bend_toward, bend_away = by_logit(q, rest, self.lapse)
        slope = self.wins * toward - self.losses * away
        bend = self.wins * bend_toward - self.losses * bend_away
        if self.tied is None:
            return slope, bend, (self.wins + self.losses) * toward * away, None
        n = self.totals
        p, complement = (
            (1 - self.lapse) * q + self.lapse / 2,
            (1 - self.lapse) * rest + self.lapse / 2,
        )
        first, tie, second = compute_outcomes(p, complement, np.exp(beta[-1])).T
        lean = (toward - away) / 2  # the derivative of ln sqrt(p (1 - p)), and its own
        bend_lean = (bend_toward - bend_away) / 2
        excess, spread = self.tied - n * tie, n * tie * (1 - tie)
        expected = n * (first * (toward - tie * lean) ** 2 + second * (away + tie * lean) ** 2)
        return (
            slope + excess * lean,
            bend + excess * bend_lean - spread * lean**2,
            expected + spread * (1 - tie) * lean**2,
            (excess, -spread, -spread * lean),
        )

    def slope_at_zero(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The derivative by each weight itself (not by its logarithm), which at a boundary must not
        be positive."""
        own, other = self.advantages(weights, beta)
        q, rest = shares(own, other)
        scale, base = 1.0 - self.lapse, self.lapse / 2.0
        p, complement = scale * q + base, scale * rest + base
        with np.errstate(divide="ignore", invalid="ignore"):
            by_p = np.where(self.wins > 0, self.wins / p, 0.0) - np.where(
                self.losses > 0, self.losses / complement, 0.0
            )
            total = own + other
            # with p = 0 the slope is that of - sqrt(p), and without bound
            if self.tied is not None:
                p, complement = (
                    np.maximum(p, MIN_PROBABILITY),
                    np.maximum(complement, MIN_PROBABILITY),
                )
                tie = compute_outcomes(p, complement, np.exp(beta[-1]))[:, 1]
                by_p = by_p + (self.tied - self.totals * tie) * (1.0 / p - 1.0 / complement) / 2.0
            by_own = np.where(total > 0, by_p * scale * rest / total, 0.0)
            by_other = np.where(total > 0, -by_p * scale * q / total, 0.0)
        factor = self._lifts(beta)
        return self.first.T @ (by_own * factor) + self.second.T @ by_other


Pose = PairProblem | LuceProblem  # what the mode of a posterior is sought of


def problem(
    data: "PairedComparisons | Choices",
    owners: np.ndarray,
    lapse: float,
    extra: np.ndarray | None = None,
    ties: bool = False,
) -> "Pose":
    """The problem that data and owners (options by aspects) pose; `extra` columns have a row a
    cell."""
    if isinstance(data, Choices):
        return LuceProblem(
            data.questions().counts, data.members, data.start, data.n_options, float(lapse)
        )
    cells = data.cells
    extra = np.zeros((len(cells.pair), 0)) if extra is None else extra
    sides = patterns(owners, cells.first, cells.second)
    return PairProblem(
        cells.wins, cells.losses, *sides, extra, float(lapse), cells.tied if ties else None
    )


def patterns(owners: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[Any, Any]:
    """For each pair of options the aspects that its first owns and its second lacks, and the
    reverse."""
    if len(first) * owners.shape[1] <= DENSE:
        a, b = owners[first], owners[second]
        return (a & ~b).astype(float), (b & ~a).astype(float)
    from scipy.sparse import csr_array

    sparse = csr_array(owners.astype(float))
    a, b = sparse[first], sparse[second]
    both = a.multiply(b)
    alone = csr_array(a - both), csr_array(b - both)
    for side in alone:
        side.eliminate_zeros()
    return alone


def shares(own: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q and 1 - q, each with all its digits; a half where nothing speaks for either."""
    total = own + other
    empty = total == 0.0
    total = np.where(empty, 1.0, total)
    return np.where(empty, 0.5, own / total), np.where(empty, 0.5, other / total)


def by_logit(q: np.ndarray, rest: np.ndarray, lapse: float) -> tuple[np.ndarray, ...]:
    """Derivatives of ln p and of -ln (1 - p) by logit q, first and second."""
    scale, base = 1.0 - lapse, lapse / 2.0
    p, complement = scale * q + base, scale * rest + base
    speed = scale * q * rest
    toward = np.where(p > 0.0, speed / np.where(p > 0.0, p, 1.0), 1.0)
    away = np.where(complement > 0.0, speed / np.where(complement > 0.0, complement, 1.0), 1.0)
    lean = rest - q
    return toward, away, toward * (lean - toward), away * (lean + away)


def scaled(pattern: Any, weights: np.ndarray, total: np.ndarray) -> Any:
    """Pattern times weights over the total of each row; zero where that is zero."""
    inverse = 1.0 / np.where(total > 0.0, total, 1.0)
    if isinstance(pattern, np.ndarray):
        return pattern * weights * inverse[:, None]
    return pattern.multiply(weights).multiply(inverse[:, None]).tocsr()


def _dense(array: Any) -> np.ndarray:
    return array if isinstance(array, np.ndarray) else array.toarray()


def _gram(rows: Any, weight: np.ndarray) -> np.ndarray:
    if isinstance(rows, np.ndarray):
        return rows.T @ (weight[:, None] * rows)
    return (rows.T @ rows.multiply(weight[:, None]).tocsr()).toarray()
