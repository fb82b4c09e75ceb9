"""What is read off the draws of a hierarchical logit: tastes and their population, predictions,
rows of the summary."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.chains import cut_records
from thali._inference.seeds import build_seed_sequence
from thali._posterior.store import BITS, described_draws
from thali._posterior.view import PosteriorTree, flat
from thali.errors import Argument, ArgumentError

from ..answers.check import (
    build_level_indicators,
    build_report_arrays,
    list_effect_names,
    list_reference_pairs,
    list_share_names,
)
from ..answers.chooser import interval_ends
from ..answers.logit_chooser import LogitChooser, iterate_level_differences
from ..coding import Coding
from ..logit import DIRECTIONS, choice_probabilities
from .attention import COVARIATE, EFFECT, Attention, effects_of
from .money import in_utility

if TYPE_CHECKING:
    import xarray

    from thali._data.experiments import ChoiceExperiment
    from thali._people.columns import RespondentCovariates

    from .hierarchical_sweep import TasteChain, TasteProblem


# How tastes come from numbers that are normally distributed among people --------------------------


class TasteScale(NamedTuple):
    r"""Coefficients of utility, b, from normally distributed numbers beta.

    .. math:: b = C f(\beta), \qquad f_k(\beta) = \beta_k \text{ or } \pm e^{\beta_k}

    A number has one coefficient, its slope; the levels of an attribute with a sign have a step
    each, and C adds those up to and including that level. In willingness-to-pay space f of all but
    the price is multiplied by e to the number of the price, the scale of utility.
    """

    # (p,) of beta: "brand[sony]", "ln -price", "ln zoom[3] over zoom[2]", "ln scale[price]"
    names: tuple[str, ...]
    sign: np.ndarray  # (p,) 1.0, -1.0, or 0.0: any
    steps: np.ndarray  # (p, p) C
    scale: np.ndarray  # (p,) by which columns are divided in the chains

    # place of the price's coefficient in willingness-to-pay space; -1: preference space
    price: int = -1

    def signed(self, normal: np.ndarray) -> np.ndarray:
        """f of numbers (..., p)."""
        if not self.sign.any():
            return normal
        with np.errstate(over="ignore"):  # of numbers that have no sign, which may have any size
            found = np.where(self.sign == 0.0, normal, self.sign * np.exp(normal))
        return (
            found
            if self.price < 0
            else in_utility(np.where(self._is_price(), -found, found), self.price)
        )

    def tastes(self, normal: np.ndarray) -> np.ndarray:
        """Coefficients of utility (..., p), in the units of the attributes."""
        return self.signed(normal) @ self.steps.T if self.sign.any() else normal

    def coefficients(self, tastes: np.ndarray) -> np.ndarray:
        """What a model shows as its coefficients: those of utility (..., p), or amounts beside the
        scale."""
        if self.price < 0:
            return tastes
        scale = -tastes[..., self.price : self.price + 1]
        return np.where(self._is_price(), scale, tastes / scale)

    def in_units(self, normal: np.ndarray) -> np.ndarray:
        """Means of numbers (..., p) of the chains, in the units of the attributes."""
        return np.where(self.sign == 0.0, normal / self._units(), normal - np.log(self._units()))

    def factors(self) -> np.ndarray:
        """What a difference of such numbers is divided by in the units of the attributes, shape
        (p,)."""
        return np.where(self.sign == 0.0, self._units(), 1.0)

    def _units(self) -> np.ndarray:
        """By what f of a number of the chains is divided in the units of the attributes: amounts
        are money."""
        if self.price < 0:
            return self.scale
        money = self.scale[self.price]
        return np.where(self._is_price(), money, self.scale / money)

    def _is_price(self) -> np.ndarray:
        return np.arange(len(self.names)) == self.price


def taste_scale(
    coding: Coding, data: "ChoiceExperiment", signs: Mapping[str, str], price: str | None
) -> TasteScale:
    """The scale of tastes whose `signs`, attribute -> direction, are given; in willingness-to-pay
    space by a price."""
    p = len(coding.names)
    names, sign, steps = list(coding.names), np.zeros(p), np.eye(p)
    first = 0
    for (attribute, levels), part, seen in zip(
        data.levels.items(), coding.parts, coding.seen, strict=True
    ):
        columns = part.table.shape[1] - int(f"{attribute}[missing]" in coding.names)
        if attribute in signs and part.numbers is not None:
            way = DIRECTIONS[signs[attribute]] * _order_of_numbers(attribute, part.numbers, levels)
            for k in range(first, first + columns):
                sign[k], names[k] = way, f"ln {'-' if way < 0 else ''}{coding.names[k]}"
        elif attribute in signs:
            way = DIRECTIONS[signs[attribute]]
            shown = [level for level, is_seen in zip(levels, seen[:-1], strict=True) if is_seen]
            for k in range(columns):
                steps[first + k, first : first + k + 1] = 1.0
                over = (shown[k], shown[k + 1])[::way]
                sign[first + k] = way
                names[first + k] = f"ln {attribute}[{over[1]}] over {attribute}[{over[0]}]"
        first += part.table.shape[1]
    place = -1
    if price is not None:
        place = coding.names.index(price)
        names[place], sign[place] = f"ln scale[{price}]", -1.0
    return TasteScale(tuple(names), sign, steps, coding.scale, place)


def _order_of_numbers(attribute: str, numbers: np.ndarray, levels: tuple[str, ...]) -> int:
    """1 or -1: whether the levels, from worst to best, stand by increasing or decreasing
    numbers."""
    ways = np.unique(np.sign(np.diff(numbers)))
    if len(ways) > 1:
        raise ArgumentError(
            Argument("signs"),
            f": a slope has one sign, but the levels of {attribute!r} are declared in the order"
            f" {', '.join(levels)}, which is not numerical; remove the attribute from ",
            Argument("linear"),
            " or declare its levels in numerical order.",
        )
    return int(ways[0]) if len(ways) else 1


class TasteDistribution:
    r"""The distribution of tastes among people in every draw.

    .. math:: b = C f(\beta), \qquad \beta \sim N(\mu + \Gamma^T z, \Sigma)

    The covariates z of a new person are those of somebody of the data. Coefficients of an attribute
    that the person ignores, with probability 1 - theta_k, are 0.
    """

    scale: TasteScale
    people: int
    attention: Attention

    def __init__(
        self,
        posterior: "xarray.Dataset",
        scale: TasteScale,
        covariates: "RespondentCovariates",
        attention: Attention,
    ) -> None:
        p = len(scale.names)
        self.scale, self.people, self.attention = scale, len(covariates.matrix), attention
        self._means = posterior["mean"].values.reshape(-1, p)
        self._covariances = posterior["covariance"].values.reshape(-1, p, p)
        self._off = covariates.matrix[:, 1:] * covariates.sd
        if covariates.names:
            self._effects = posterior["covariate_effect"].values.reshape(
                -1, len(covariates.names), p
            )
        if attention.names:
            rates = posterior["attention" if attention.people is None else _TYPICAL].values
            self._rates = self._odds = rates.reshape(-1, len(attention.names))
        if attention.people is not None:
            effects = posterior[EFFECT].values.reshape(len(self._rates), -1, len(attention.names))
            self._odds = effects * attention.people.sd[:, None]

    @property
    def draws(self) -> int:
        """Number of draws, of all chains."""
        return len(self._means)

    def tastes(
        self, draws: np.ndarray, noise: np.ndarray, like: np.ndarray, luck: np.ndarray
    ) -> np.ndarray:
        """Tastes (D, M, p) of new people in draws (D,), by standard normal noise; `like`: whose
        covariates.

        By `luck` (D, M, K), uniform numbers, they attend to attributes.
        """
        factors = np.linalg.cholesky(self._covariances[draws])
        normal = self._means[draws, None] + noise @ np.swapaxes(factors, 1, 2)
        if self._off.shape[1]:
            normal = normal + self._off[like] @ self._effects[draws]
        tastes = self.scale.tastes(normal)
        if not self.attention.names:
            return tastes
        rates = self.attention.rates(self._rates[draws], self._odds[draws], like)
        return np.where(self.attention.heeded(luck < rates), tastes, 0.0)


NEW_PEOPLE = 4  # new people drawn for each draw of the population
_BLOCK = 2**21  # utilities computed at a time

_FAR = 2.0  # standard deviations from 0, at which indifference is rare
MAX_EXACT = 2_000_000  # tastes of all people in all draws of which a file holds every digit
BITS_IN_FILES = 9  # of the others: a relative error of at most 1 / 1,024
_TYPICAL = "attention_typical"
_TASTES = "tastes"  # attribute of the means: what is normally distributed, in JSON
_DESCRIPTIONS = {
    "mean": "population mean of coefficients, or of their logarithms (attribute tastes), at average"
    " covariates",
    "covariate_effect": "change in the mean per unit of a covariate",
    "covariance": "covariance of coefficients, or of their logarithms, among respondents with the"
    " same covariates",
    "beta": "coefficients of a respondent",
    "attention": "share of the population that attends to an attribute",
    _TYPICAL: "probability that a respondent with average covariates attends to an attribute",
    EFFECT: "change in the log odds of attending to an attribute per unit of a covariate",
    "attends": "whether a respondent attends to an attribute",
    "log_likelihood": "full data set given all individual coefficients, natural logarithm",
}

_NOTES = {
    "mean": "the mean, for scaled columns",
    "covariate_effect": "the effects of standardised covariates, for scaled columns",
    "covariance": "the covariance, for scaled columns",
    "beta": "individual coefficients, or their logarithms, given mean and covariance, for scaled"
    " columns",
    "attends": "whether each respondent attends to each attribute, given the population share that"
    " does",
    _TYPICAL: "the log odds of attending for a respondent with average covariates",
    EFFECT: "the effects of standardised covariates on the log odds of attending",
}


def to_datatree(
    chains: Sequence["TasteChain"],
    respondents: Sequence[str],
    names: Sequence[str],
    scale: "TasteScale",
    covariates: "RespondentCovariates",
    attention: Attention,
    attrs: dict[Any, Any],
) -> "xarray.DataTree":
    """The draws of all chains, in the units of the attributes."""
    import xarray as xr

    from thali._posterior.densities import add_log_prior, is_pointwise
    from thali._posterior.store import origin, tree_of

    kept, parts = cut_records(chains)
    drawn = {name: np.stack([part[name] for part in parts]) for name in parts[0]}
    posterior = draws_group(
        **drawn,
        respondents=respondents,
        names=names,
        scale=scale,
        covariates=covariates,
        attention=attention,
    )
    rates = xr.Dataset(
        {"acceptance_rate": ("chain", [c.acceptance for c in kept])}, {"chain": posterior["chain"]}
    )
    problem = kept[0].problem
    chosen = problem.chosen_row - problem.first_row[:-1]
    groups = {
        "posterior": posterior,
        "observed_data": observed_group(chosen),
        "sample_stats": rates,
    }
    if is_pointwise(len(chosen), drawn["log_likelihood"].size):
        sampled = {name: posterior[name] for name in ("chain", "draw")}
        heeded = np.where(attention.heeded(drawn["attends"]), drawn["beta"], 0.0)
        pointwise = ("chain", "draw", "task"), _log_chosen(problem, heeded)
        groups["log_likelihood"] = xr.Dataset({"chosen": pointwise}, sampled)
    densities = _log_prior(problem, drawn["mean"], drawn["covariance"], drawn["beta"])
    if attention.names:
        rates, attends = attention.rates(drawn["rate"], drawn["effect"]), drawn["attends"]
        densities["attends"] = np.log(np.where(attends, rates, 1.0 - rates)).sum(axis=(2, 3))
    if attention.people is not None:
        rate, effect = drawn["rate"], drawn["effect"]
        densities[_TYPICAL] = np.log(rate * (1.0 - rate)).sum(axis=2)
        densities[EFFECT] = -0.5 * (effect**2 + np.log(2.0 * np.pi)).sum(axis=(2, 3))
    add_log_prior(groups, densities, {name: _NOTES[name] for name in densities})
    return tree_of(groups, {**origin(), **attrs})


def observed_group(chosen: np.ndarray) -> "xarray.Dataset":
    """The group observed_data."""
    import xarray as xr

    words = {"description": "position of the chosen alternative in its task"}
    return xr.Dataset({"chosen": ("task", np.asarray(chosen, np.int64), words)})


def _log_chosen(problem: "TasteProblem", beta: np.ndarray) -> np.ndarray:
    """ln P of every choice given the person's tastes, shape (chains, draws, tasks)."""
    found = np.empty((*beta.shape[:2], len(problem.chosen_row)))
    for person, (first, end) in enumerate(pairwise(problem.first_task)):
        starts = problem.first_row[first:end]
        rows = (
            problem.matrix[starts[0] : problem.first_row[end]]
            if end > first
            else problem.matrix[:0]
        )
        utility = np.moveaxis(beta[:, :, person] @ rows.T, 2, 0)
        if end > first:
            total = np.logaddexp.reduceat(utility, starts - starts[0])
            found[:, :, first:end] = np.moveaxis(
                utility[problem.chosen_row[first:end] - starts[0]] - total, 0, 2
            )
    return found


def _log_prior(
    problem: "TasteProblem", mean: np.ndarray, covariance: np.ndarray, beta: np.ndarray
) -> dict[str, np.ndarray]:
    """Log densities of M, of the inverse Wishart distribution, and of N(M^T z_n, Sigma) summed over
    people."""
    from scipy.special import gammaln

    p, df, scale, precision = mean.shape[-1], problem.df, problem.scale, problem.mean_precision
    factor = np.linalg.cholesky(covariance)
    inverse = np.linalg.inv(factor)
    log_det = 2.0 * np.log(np.diagonal(factor, axis1=2, axis2=3)).sum(axis=2)
    log_gamma = 0.25 * p * (p - 1) * np.log(np.pi) + gammaln(0.5 * (df - np.arange(p))).sum()
    constant = 0.5 * df * p * np.log(0.5 * scale) - log_gamma
    if problem.price >= 0:
        is_price = np.arange(p) == problem.price
        beta = np.where(is_price, beta, beta / -beta[..., problem.price : problem.price + 1])
    normal = np.where(
        problem.sign == 0.0, beta, np.log(np.where(problem.sign == 0.0, 1.0, np.abs(beta)))
    )
    distance = ((normal - problem.covariates @ mean) @ np.swapaxes(inverse, 2, 3)) ** 2
    of_mean = 0.5 * (np.log(precision / (2.0 * np.pi)) - precision * mean**2).sum(axis=3)
    found = {
        "mean": of_mean[..., 0],
        "covariance": constant
        - 0.5 * ((df + p + 1.0) * log_det + scale * (inverse**2).sum(axis=(2, 3))),
        "beta": -0.5
        * (beta.shape[2] * (p * np.log(2.0 * np.pi) + log_det) + distance.sum(axis=(2, 3))),
    }
    return found | ({"covariate_effect": of_mean[..., 1:].sum(axis=2)} if mean.shape[2] > 1 else {})


def draws_group(
    mean: np.ndarray,
    covariance: np.ndarray,
    beta: np.ndarray,
    log_likelihood: np.ndarray,
    rate: np.ndarray,
    effect: np.ndarray,
    attends: np.ndarray,
    respondents: Sequence[str],
    names: Sequence[str],
    scale: "TasteScale",
    covariates: "RespondentCovariates",
    attention: Attention,
) -> "xarray.Dataset":
    """Draws (chain, draw, ...) of the numbers of chains as a group of a tree, in the units of the
    attributes."""
    by, factors = ("chain", "draw"), scale.factors()
    in_units = beta / scale.scale
    in_units = in_units @ scale.steps.T if scale.sign.any() else in_units
    if attention.names:
        in_units = np.where(attention.heeded(attends), in_units, 0.0)
    variables = {
        "mean": ((*by, "coefficient"), scale.in_units(mean[:, :, 0])),
        "covariance": (
            (*by, "coefficient", "coefficient_other"),
            covariance / np.outer(factors, factors),
        ),
        "beta": ((*by, "respondent", "coefficient"), in_units),
        "log_likelihood": (by, log_likelihood),
    }
    labelled = {
        "coefficient": list(names),
        "coefficient_other": list(names),
        "respondent": list(respondents),
    }
    if covariates.names:
        effects = mean[:, :, 1:] / covariates.sd[:, None] / factors
        variables["covariate_effect"] = ((*by, "covariate", "coefficient"), effects)
        labelled["covariate"] = list(covariates.names)
    if attention.names:
        variables |= {
            "attention": ((*by, "attribute"), _mean_rates(rate, effect, attention)),
            "attends": ((*by, "respondent", "attribute"), attends),
        }
        labelled["attribute"] = list(attention.names)
    if attention.people is not None:
        effects = effect / attention.people.sd[:, None]
        variables |= {
            _TYPICAL: ((*by, "attribute"), rate),
            EFFECT: ((*by, COVARIATE, "attribute"), effects),
        }
        labelled[COVARIATE] = list(attention.people.names)
    group = described_draws(variables, labelled, log_likelihood.shape, _DESCRIPTIONS)
    group["mean"].attrs[_TASTES] = json.dumps(list(scale.names))
    if in_units.size > MAX_EXACT:
        group["beta"].attrs |= {
            BITS: BITS_IN_FILES,
            "description": f"{_DESCRIPTIONS['beta']}; stored with {BITS_IN_FILES} bits each",
        }
    return group


def _mean_rates(rate: np.ndarray, effect: np.ndarray, attention: Attention) -> np.ndarray:
    """The part of people like the respondents that attends, (chain, draw, K)."""
    if attention.people is None:
        return rate
    chains = zip(rate, effect, strict=True)
    return np.stack(
        [
            [attention.rates(*draw).mean(axis=0) for draw in zip(*chain, strict=True)]
            for chain in chains
        ]
    )


def tastes_of(posterior: "xarray.Dataset") -> list[str]:
    """Return what is normally distributed of each coefficient: itself or ln of a step."""
    return json.loads(posterior["mean"].attrs[_TASTES])


def quantities_of(view: PosteriorTree) -> dict[str, np.ndarray]:
    """Mean and sd in the population of every taste, or of its logarithm, effects of covariates, and
    log_likelihood."""
    posterior = view.draws
    names = tastes_of(posterior)
    means, variances = (
        posterior["mean"].values,
        np.diagonal(posterior["covariance"].values, axis1=2, axis2=3),
    )
    quantities = {f"mean[{name}]": means[..., k] for k, name in enumerate(names)}
    quantities |= {f"sd[{name}]": np.sqrt(variances[..., k]) for k, name in enumerate(names)}
    if "covariate_effect" in posterior:
        for r, covariate in enumerate(posterior["covariate"].values):
            own = posterior["covariate_effect"].values[:, :, r]
            quantities |= {
                f"mean[{name}] per {covariate}": own[..., k] for k, name in enumerate(names)
            }
    quantities |= rates_of(posterior)
    return quantities | {"log_likelihood": posterior["log_likelihood"].values}


def rates_of(posterior: "xarray.Dataset") -> dict[str, np.ndarray]:
    """The part of the population that attends to each attribute, draw by draw, and effects on its
    log odds."""
    if "attention" not in posterior:
        return {}
    named = enumerate(posterior["attribute"].values)
    rates = {f"attends[{name}]": posterior["attention"].values[..., k] for k, name in named}
    return rates | {
        f"attends[{name}] per {column}": own
        for (name, column), own in effects_of(posterior).items()
    }


def felt_prior(
    posterior: "xarray.Dataset", scale: TasteScale, df: float, size: float
) -> np.ndarray:
    r"""By how much the logarithm of each standard deviation among people rises with that of the
    prior's size, (p,).

    .. math:: \frac{\partial \operatorname{E} \ln \sigma_k}{\partial \ln V} =
        \operatorname{Cov}\big(\ln \sigma_k, -\tfrac12 \nu V \operatorname{tr} \Sigma^{-1}\big),
        \qquad \Sigma \sim IW(\nu, \nu V I)
    """
    p = len(scale.names)
    covariance = (
        posterior["covariance"].values * np.outer(scale.factors(), scale.factors())
    ).reshape(-1, p, p)
    felt = -0.5 * df * size * np.trace(np.linalg.inv(covariance), axis1=1, axis2=2)
    logs = 0.5 * np.log(np.diagonal(covariance, axis1=1, axis2=2))
    return (felt - felt.mean()) @ (logs - logs.mean(axis=0)) / max(len(felt) - 1, 1)


def close_to_zero(posterior: "xarray.Dataset", population: "TasteDistribution") -> list[str]:
    """Attributes whose tastes are not well away from 0 among those who attend: no mean of two
    standard deviations."""
    scale, attention = population.scale, population.attention
    variances = np.diagonal(posterior["covariance"].values, axis1=2, axis2=3)
    away = np.abs(posterior["mean"].values / np.sqrt(variances)).mean(axis=(0, 1))
    far = (away >= _FAR) | (scale.sign != 0.0)  # a taste with a sign is an exponential
    return [
        name
        for name, owned in zip(attention.names, attention.owned, strict=True)
        if not far[owned == 1.0].any()
    ]


def mean_probabilities(
    posterior: "xarray.Dataset",
    population: "TasteDistribution",
    matrix: np.ndarray,
    task_of_row: np.ndarray,
    respondent_of_row: np.ndarray,
    random_seed: Any,
) -> np.ndarray:
    r"""Posterior mean of choice probabilities: over the draws of a known person's tastes, over new
    people otherwise.

    .. math::
        \bar p_n = \frac1S \sum_s p(\beta_n^{(s)}), \qquad
        \bar p_\text{new} = \frac{1}{SR} \sum_{s,r} p(\beta^{(s,r)}), \quad
        \beta^{(s,r)} \text{ from the population of draw } s
    """
    result = np.empty(len(matrix))
    for rows, p in _blocks(
        posterior, population, matrix, task_of_row, respondent_of_row, random_seed
    ):
        result[rows] = p.mean(axis=1)
    return result


def errors_of_probabilities(
    posterior: "xarray.Dataset",
    population: "TasteDistribution",
    matrix: np.ndarray,
    task_of_row: np.ndarray,
    respondent_of_row: np.ndarray,
    random_seed: Any,
) -> np.ndarray:
    """Monte Carlo standard errors of `mean_probabilities`: of a new person by the mean over those
    of one draw."""
    from thali._posterior.summary import mean_errors

    sizes = posterior.sizes
    result = np.empty(len(matrix))
    for rows, p in _blocks(
        posterior, population, matrix, task_of_row, respondent_of_row, random_seed
    ):
        of_draws = p.reshape(len(rows), -1, sizes["chain"] * sizes["draw"]).mean(axis=1)
        result[rows] = mean_errors(of_draws.reshape(len(rows), sizes["chain"], sizes["draw"]))
    return result


def ends_of_probabilities(
    posterior: "xarray.Dataset",
    population: "TasteDistribution",
    matrix: np.ndarray,
    task_of_row: np.ndarray,
    respondent_of_row: np.ndarray,
    random_seed: Any,
    ci: float,
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the interval of each probability over draws, of somebody new over people, too."""
    result = np.empty((2, len(matrix)))
    for rows, p in _blocks(
        posterior, population, matrix, task_of_row, respondent_of_row, random_seed
    ):
        result[:, rows] = interval_ends(p.T, ci)
    return result[0], result[1]


def _blocks(
    posterior: "xarray.Dataset",
    population: "TasteDistribution",
    matrix: np.ndarray,
    task_of_row: np.ndarray,
    respondent_of_row: np.ndarray,
    random_seed: Any,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Some rows at a time, whole tasks of one person, and their probabilities (rows, draws of
    tastes)."""
    for person in np.unique(respondent_of_row):
        own = np.flatnonzero(respondent_of_row == person)
        if person < 0:
            tastes = new_people(population, random_seed)
        else:
            tastes = posterior["beta"].values[:, :, person].reshape(-1, matrix.shape[1])
        tasks, number = np.unique(task_of_row[own], return_inverse=True)
        step = max(1, _BLOCK // (len(tastes) * max(1, int(np.bincount(number).max()))))
        for first in range(0, len(tasks), step):
            rows = np.flatnonzero((number >= first) & (number < first + step))
            yield own[rows], choice_probabilities(matrix[own[rows]] @ tastes.T, number[rows])


def new_people(population: "TasteDistribution", random_seed: Any) -> np.ndarray:
    """Tastes of people drawn from the population of each draw, shape (NEW_PEOPLE x draws, p)."""
    rng, draws, p = (
        np.random.default_rng(build_seed_sequence(random_seed)),
        population.draws,
        len(population.scale.names),
    )
    noise = rng.normal(size=(NEW_PEOPLE, draws, p))
    like = rng.integers(population.people, size=(NEW_PEOPLE, draws))
    luck = rng.random((draws, NEW_PEOPLE, len(population.attention.names)))
    found = population.tastes(np.arange(draws), np.swapaxes(noise, 0, 1), like.T, luck)
    return np.swapaxes(found, 0, 1).reshape(-1, p)


# What `convergence` of the hierarchical logit looks at, in every draw: shares of levels among
# choices, level effects


def reported(
    beta: np.ndarray, data: "ChoiceExperiment", coding: "Coding"
) -> "dict[str, xarray.DataArray]":
    r"""`share` and `effect` of every draw of tastes (chain, draw, respondent, coefficient).

    .. math::
        \text{share} = \frac1T \sum_{nt} \sum_{j} p_{ntj} 1(\text{j has the level}), \qquad
        \text{effect} = \frac{1}{N J} \sum_{nj} 1 \Big/ \big(1
        + e^{-(x_{jb} - x_{ja})^T \beta_n}\big)

    x_jb is product j of the data with level b; it makes a difference to "inside", and where
    attributes interact.
    """
    matrix = coding.encode_codes(data.products)
    levels = build_level_indicators(data.scheme, data.products)
    shares = np.zeros((*beta.shape[:2], levels.shape[1]))
    for person, (first, end) in enumerate(pairwise(data.first_task)):
        if end == first:
            continue
        products = data.row_product[data.first_row[first] : data.first_row[end]]
        starts = data.first_row[first:end] - data.first_row[first]
        sizes = np.diff(data.first_row[first : end + 1])
        utility = _times(beta[:, :, person], matrix[products].T)
        utility -= np.repeat(np.maximum.reduceat(utility, starts, axis=2), sizes, axis=2)
        np.exp(utility, out=utility)
        utility /= np.repeat(np.add.reduceat(utility, starts, axis=2), sizes, axis=2)
        shares += _times(utility, levels[products])
    pairs = list_reference_pairs(data.scheme, np.zeros(len(data.attributes)))
    found = iterate_level_differences(coding, data, pairs)
    effects = np.stack([_effect(beta, steps, weights) for steps, weights in found], axis=-1)
    return build_report_arrays(
        shares / data.n_tasks,
        effects,
        list_share_names(data.scheme),
        list_effect_names(data.scheme, pairs),
    )


def _times(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Rows (chain, draw, .) times a matrix, each in a product of its own: rounding does not know
    the other draws."""
    return (rows[:, :, None, :] @ matrix)[:, :, 0]


def _effect(beta: np.ndarray, steps: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The probability that the one is chosen out of two, mean over products and over people."""
    from scipy.special import expit

    parts = (
        weight * expit(beta @ step).mean(axis=-1)
        for step, weight in zip(steps, weights, strict=True)
    )
    return sum(parts, np.zeros(()))


# The people of the hierarchical logit in its draws, and new people of its population --------------


_MAX_TASTES = 4_000_000  # of all people in all draws
_NEWCOMERS = 1_024  # the sampling noise of a share among so many is below .016


def chooser_of(
    coding: "Coding",
    data: "ChoiceExperiment",
    posterior: "xarray.Dataset",
    of_new: "TasteDistribution",
    directions: np.ndarray,
) -> LogitChooser:
    """The people of the data; of many people in many draws, with fewer draws."""
    beta = posterior["beta"].values
    chains, draws, people, p = beta.shape

    def population(kept: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Tastes of new people, which have the same random numbers in every draw."""
        from scipy.special import ndtri
        from scipy.stats import qmc

        points = qmc.Sobol(p + len(of_new.attention.names), rng=rng).random(_NEWCOMERS)
        noise = ndtri(points[:, :p].clip(1e-12, 1 - 1e-12))
        like = np.arange(_NEWCOMERS) * of_new.people // _NEWCOMERS
        return of_new.tastes(kept, noise[None], like[None], points[None, :, p:]), np.full(
            _NEWCOMERS, 1 / _NEWCOMERS
        )

    chain = np.repeat(np.arange(chains), draws)
    tastes = beta.reshape(-1, people, p)
    found = LogitChooser(coding, data, tastes, chain, population=population, directions=directions)
    if of_new.attention.names:
        found.attends = _attends(posterior, data)
    return found.thin(max(40, min(len(chain), _MAX_TASTES // people)))


def _attends(posterior: "xarray.Dataset", data: "ChoiceExperiment") -> np.ndarray:
    """Whether each respondent attends to each attribute of the data, in every draw (draws, people,
    attributes)."""
    own = flat(posterior["attends"].values)
    found = np.ones((*own.shape[:2], len(data.attributes)), bool)
    found[..., [data.attributes.index(str(name)) for name in posterior["attribute"].values]] = own
    return found
