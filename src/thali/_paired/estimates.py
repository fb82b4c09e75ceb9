"""The worths of a leaderboard: draws of their posterior, or estimates without a prior."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.numerics.ranks import descending, means_along
from thali._inference.progress import Progress
from thali._inference.seeds import streams
from thali._model.clusters import clusters_of
from thali._model.dependence import choose_dependence, effect_of
from thali._people.populations import ADJUSTED, INDEPENDENT
from thali._posterior.convergence import ConvergenceCheck
from thali._posterior.dependence import POWER, SCORES, Dependence
from thali._posterior.surely import CERTAIN

from .counted import Judgements
from .scale import WorthScale
from .worths import JudgedWorths, Posed, WorthsRequest, agreement_of, check_anchor, judged_worths, posed

if TYPE_CHECKING:
    from thali._worths.density import Density, Spreads
    from thali._worths.laplace import Marginal
    from thali._worths.respondents import RespondentVariance

DRAWS, LEAST_DRAWS, MOST_NUMBERS = 4000, 500, 25_000_000  # of Laplace's approximation; numbers in all draws


class WorthEstimates(NamedTuple):
    """What is known of the worths."""

    log_worths: np.ndarray  # (draws, options), the mean of each row 0
    modes: np.ndarray  # (options,) log worths by which options are ranked: unlike means of draws they have no noise
    nu: np.ndarray  # (draws,); empty if there are no ties
    beta: np.ndarray  # (draws, covariates)
    estimate: tuple[np.ndarray, np.ndarray] | None  # log worths and beta; None: means of draws
    people: Dependence | None  # what was made of them
    seen: JudgedWorths | None = None  # by judges, or in time
    of_chains: ConvergenceCheck | None = None  # whether they agree; None: there are none
    with_variance: np.ndarray | None = None  # log worths as wide where few respondents leave no variance; None: these
    marginal: "Marginal | None" = None  # of the density, perhaps raised to a power; None of parts that are pooled
    density: "Density | None" = None  # of the votes as they are; None of parts that are pooled
    points: np.ndarray | None = None  # (size, draws); None of parts that are pooled

    @property
    def middle(self) -> np.ndarray:
        """The log worths that are reported: means that never rise from one rank to the next."""
        means = self.log_worths.mean(axis=0) if self.estimate is None else self.estimate[0]
        return means_along(descending(self.modes), means)

    @property
    def effects(self) -> np.ndarray:
        """The coefficients that are reported."""
        return self.beta.mean(axis=0) if self.estimate is None else self.estimate[1]


def drawn_of(
    data: Judgements,
    asked: WorthsRequest,
    scale: WorthScale,
    method: str,
    spread: float | None,
    lapse: float,
    random_seed: Any,
    progressbar: bool,
    people: Any,
) -> WorthEstimates:
    """Return the worths by that method."""
    from thali._worths.laplace import Marginal
    from thali._worths.of_data import as_likelihood, check_estimable

    data, estimates = as_likelihood(data), method == "maximum-likelihood"
    pose = posed(data, asked, lapse, not estimates)
    if estimates:
        check_estimable(data, pose.density)
    check_anchor(pose, scale, data.labels)
    with Progress(progressbar and method != "mcmc", "drawing", 1, "draws") as progress:
        progress.note("estimating worths")
        marginal = Marginal(pose.density, spread, asked.judge_sd, asked.drift)
        usual = INDEPENDENT if method == "mcmc" else ADJUSTED
        dependence, variance = _dependence(data, marginal, people, usual) if asked.is_plain else (None, None)
        if method != "mcmc":
            (rng,) = streams(random_seed, 1)
            return _from_lattice(data, pose, asked, scale, method, marginal, rng, dependence, variance)
    if dependence is not None and dependence.model == ADJUSTED:
        dependence = replace(dependence, by=POWER)
        marginal = Marginal(pose.density.raised(dependence.power), spread)
    return _from_chains(data, pose, asked, scale, marginal, random_seed, progressbar, dependence)


def _dependence(
    data: Judgements, marginal: "Marginal", people: Any, usual: str
) -> "tuple[Dependence | None, RespondentVariance | None]":
    """Return what is made of respondents, and the variance of their scores at the mode; None where nobody is known."""
    from thali._worths.respondents import respondent_variance

    density = marginal.density
    clusters = clusters_of(data, data.n_ties > 0)
    made = choose_dependence(people, usual, data, [] if clusters is None else [clusters])
    if made is None or clusters is None:
        return made, None
    _, mode = marginal.best
    found = respondent_variance(density, data, clusters, mode.point, mode.factor.draw(np.eye(density.size)))
    return replace(made, effect=effect_of([found.scores])), found


def _from_lattice(
    data: Judgements,
    pose: Posed,
    asked: WorthsRequest,
    scale: WorthScale,
    method: str,
    marginal: "Marginal",
    rng: np.random.Generator,
    dependence: Dependence | None,
    variance: "RespondentVariance | None",
) -> WorthEstimates:
    """Return the worths by Laplace's approximation, or by maximum likelihood with normal errors."""
    from scipy.special import ndtri, stdtrit

    from thali._worths.draws import draw
    from thali._worths.respondents import widened

    density, estimates = pose.density, method == "maximum-likelihood"
    _, mode = marginal.best
    count = int(np.clip(MOST_NUMBERS // density.size, LEAST_DRAWS, DRAWS))
    spreads = None
    if estimates:
        points = mode.point[:, None] + marginal.deviations(mode, rng, count)
    else:
        points, spreads = draw(marginal, rng, count)
    middle = mode.point if estimates else points.mean(axis=1)
    estimate = (_centred(density, middle[:, None])[0], middle[density.beta]) if estimates else None
    if dependence is None or variance is None or dependence.model != ADJUSTED:
        return _estimates(data, pose, asked, scale, method, marginal, points, spreads)._replace(
            estimate=estimate, people=dependence
        )
    matrix = variance.matrix()
    narrow = middle[:, None] + matrix @ (points - middle[:, None])
    normal = matrix @ marginal.deviations(mode, rng, points.shape[1])
    wide = widened(rng, narrow, middle, normal, variance.df)
    u, of_middle = _centred(density, narrow), _centred(density, middle[:, None])[0]
    reach = stdtrit(variance.df, CERTAIN) / ndtri(CERTAIN)
    found = _estimates(data, pose, asked, scale, method, marginal, wide, spreads)
    return found._replace(
        nu=np.exp(narrow[density.nu]).ravel(),
        estimate=(of_middle, middle[density.beta]),
        people=replace(dependence, by=SCORES, df=variance.df, share=variance.scores.share),
        with_variance=of_middle + reach * (u - of_middle),
    )


def _from_chains(
    data: Judgements,
    pose: Posed,
    asked: WorthsRequest,
    scale: WorthScale,
    marginal: "Marginal",
    random_seed: Any,
    progressbar: bool,
    dependence: Dependence | None,
) -> WorthEstimates:
    """Return the worths by chains."""
    from thali._worths.chains import run

    drawn = run(marginal, random_seed, progressbar)
    names = data.labels, pose.periods, pose.judges, data.covariate_names
    check = agreement_of(drawn.reported, marginal, *names)
    found = _estimates(data, pose, asked, scale, "mcmc", marginal, drawn.points, drawn.spreads)
    return found._replace(people=dependence, of_chains=check)


def _estimates(
    data: Judgements,
    pose: Posed,
    asked: WorthsRequest,
    scale: WorthScale,
    method: str,
    marginal: "Marginal",
    points: np.ndarray,
    spreads: "Spreads | None",
) -> WorthEstimates:
    """Return what draws of points say about worths, with the tables of judges and of time."""
    density, seen = pose.density, None
    if not asked.is_plain:
        assert spreads is not None
        seen = judged_worths(data, pose, asked, scale, method, marginal, points, spreads)
    nu, beta = np.exp(points[density.nu]).ravel(), points[density.beta].T
    modes = _centred(density, marginal.middle[:, None])[0]
    return WorthEstimates(
        _centred(density, points), modes, nu, beta, None, None, seen, None, None, marginal, density, points
    )


def _centred(density: "Density", points: np.ndarray) -> np.ndarray:
    """Return centred log worths in the last period, shape (draws, options)."""
    worths = density.centred(points[density.worths]).reshape(density.n_periods, density.n_options, -1)
    return worths[-1].T
