"""The worths of a leaderboard in which all judges are alike and nothing changes in time, or of any other."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.choices import Choices
from thali._data.choices.choices import places_of_rows
from thali._data.connectivity import check_finite
from thali._inference.progress import Progress
from thali._inference.seeds import streams
from thali._labels import shorten
from thali._posterior.convergence import ConvergenceCheck, check_convergence
from thali._posterior.dependence import Dependence
from thali._posterior.surely import CERTAIN
from thali.errors import Argument, DataError, Setting

from .counted import Judgements
from .scale import WorthScale
from .worths import BY_CHAINS, JudgedWorths, WorthsRequest, seen_by

if TYPE_CHECKING:
    from thali._aspects.bradley_terry import AnyDensity

DRAWS, _BLOCK = 4000, 500
_FLAT = 1e-10  # curvature, beside that along single coordinates, of directions about which comparisons say nothing


class WorthEstimates(NamedTuple):
    """What is known of the worths."""

    log_worths: np.ndarray  # (draws, options), the mean of each row 0
    nu: np.ndarray  # (draws,); empty if there are no ties
    beta: np.ndarray  # (draws, covariates)
    estimate: tuple[np.ndarray, np.ndarray] | None  # log worths and beta; None: means of draws
    people: Dependence | None  # what was made of them
    seen: JudgedWorths | None = None  # by judges, or in time
    of_chains: ConvergenceCheck | None = None  # whether they agree; None: there are none
    with_variance: np.ndarray | None = None  # log worths as wide where few respondents leave no variance; None: these

    @property
    def middle(self) -> np.ndarray:
        """The log worths by which options are ranked."""
        return self.log_worths.mean(axis=0) if self.estimate is None else self.estimate[0]

    @property
    def effects(self) -> np.ndarray:
        """The coefficients that are reported."""
        return self.beta.mean(axis=0) if self.estimate is None else self.estimate[1]


def drawn_of(
    data: Judgements,
    asked: WorthsRequest,
    scale: WorthScale,
    method: str,
    lapse: float,
    random_seed: Any,
    progressbar: bool,
    people: Any,
) -> WorthEstimates:
    """The draws by that method."""
    data = as_likelihood(data)
    if not asked.is_plain:
        seen = seen_by(data, asked, scale, method, lapse, random_seed, progressbar)
        return WorthEstimates(seen.log_worths, seen.nu, seen.beta, None, None, seen, seen.of_chains)
    if method == "mcmc":
        return _by_mcmc(data, lapse, random_seed, progressbar, people)
    from scipy.special import ndtri, stdtrit

    from thali._aspects.bradley_terry import SetDensity, density_of
    from thali._aspects.dependence import worths_of
    from thali._aspects.maximum_likelihood.problem import PairProblem, problem

    estimates = method == "maximum-likelihood"
    if estimates:
        keeps = "set ", Setting("method", "laplace"), ", whose prior keeps it finite."
        check_finite(data.labels, *_beaten(data), keeps)
    if isinstance(data, Choices):
        pose = problem(data, np.eye(data.n_options, dtype=bool), lapse)
        assert not isinstance(pose, PairProblem)
        density = SetDensity(pose, not estimates)
    else:
        density = density_of(data, lapse, bool(data.n_ties), not estimates)
    if estimates and data.covariates is not None:
        _check_identified(density, data.covariates.names)
    (rng,) = streams(random_seed, 1)
    found = []
    with Progress(progressbar, "drawing", DRAWS, "draws") as progress:
        progress.note("estimating worths")
        normal, dependence = worths_of(people, data, density)
        for begin in range(0, DRAWS, _BLOCK):
            found.append(normal.mode + normal.deviations(rng, _BLOCK) if estimates else normal.points(rng, _BLOCK))
            progress.update(begin + _BLOCK)
    points = np.concatenate(found)
    widened = normal.widened(rng, points)
    u, log_nu, _ = density.parts_of(points)
    wide, _, beta = density.parts_of(widened)
    nu = np.exp(log_nu).ravel()
    middle, _, effects = density.parts_of(normal.mode if estimates else points.mean(axis=0))
    if dependence is None or widened is points:
        return WorthEstimates(wide, nu, beta, (middle, effects) if estimates else None, dependence)
    reach = stdtrit(dependence.df, CERTAIN) / ndtri(CERTAIN)
    return WorthEstimates(wide, nu, beta, (middle, effects), dependence, with_variance=middle + reach * (u - middle))


def as_likelihood(data: Judgements) -> Judgements:
    """The data as their likelihood is computed: of three the best and the worst are a ranking."""
    from thali._aspects.likelihoods.elimination import as_pairs
    from thali._model.best_worst import LARGEST, RANKING

    if isinstance(data, Choices) and data.worst is not None and (size := int(data.sizes.max())) > LARGEST:
        raise DataError(
            f"Best and worst of {size} options were chosen, but a leaderboard sums over rankings of at most {LARGEST};"
            " remove larger sets, or fit EliminationByAspects('unique', best_worst='reversed')."
        )
    return as_pairs(data, RANKING)


def _beaten(data: Judgements) -> tuple[np.ndarray, np.ndarray]:
    """Who was chosen over whom, each two once or more often."""
    if isinstance(data, Choices):
        row, place = places_of_rows(data)
        others = data.members[place]
        winner, loser = data.members[data.choice[row]], others
        if data.worst is not None:
            winner, loser = np.append(winner, others), np.append(loser, data.members[data.worst[row]])
        differ = winner != loser
        return winner[differ], loser[differ]
    beats = data.wins + data.tied > 0, data.losses + data.tied > 0
    winner = np.append(data.first[beats[0]], data.second[beats[1]])
    return winner, np.append(data.second[beats[0]], data.first[beats[1]])


def _check_identified(density: "AnyDensity", names: tuple[str, ...]) -> None:
    """Refuse covariates whose effects the likelihood alone does not tell from worths."""
    from thali._aspects.bradley_terry import local

    curvature = local(density, np.zeros(density.size)).curvature
    scale = np.sqrt(np.diag(curvature))
    directions = np.linalg.eigvalsh(curvature / scale / scale[:, None])
    if np.count_nonzero(directions < _FLAT) > 1:  # a common change of all log worths is always one
        raise DataError(
            f"The effects of {shorten(names)} are not identified separately from the worths, because they do not vary"
            " between comparisons of the same pair or are collinear; set ",
            Setting("method", "laplace"),
            ", which has a prior, or name fewer with ",
            Argument("covariates"),
            ".",
        )


def _by_mcmc(data: Judgements, lapse: float, random_seed: Any, progressbar: bool, people: Any) -> WorthEstimates:
    """The draws of the chains of the model."""
    from thali._aspects.models.elimination import EliminationByAspects

    model = EliminationByAspects("unique", lapse=lapse, people=people)
    model = model.fit(data, random_seed=random_seed, progressbar=progressbar)
    posterior = model._view
    common = posterior.common_worth
    worths = posterior.unique if common is None else common
    log_worths = np.log(worths.reshape(-1, data.n_options))
    nu = np.zeros(0) if posterior.tie is None else posterior.tie.reshape(len(log_worths), -1).mean(axis=1)
    convergence = check_convergence(model.summary(), BY_CHAINS)
    log_worths -= log_worths.mean(axis=1, keepdims=True)
    return WorthEstimates(log_worths, nu, posterior.coefficients, None, posterior.dependence, of_chains=convergence)
