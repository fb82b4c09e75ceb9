"""The posterior of one population's worths: its density and lattice, chains that draw from it, and
its tree."""

import copy
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from thali._data.choices import Choices
from thali._inference.chains import FixedChain, IndependentDraws, choose_recorded_chains
from thali._model.stored_choices import (
    MAX_PAIRS,
    StoredData,
    all_pair_coordinates,
    member_coordinates,
    set_size_variables,
    store_pairs,
    store_sets,
)
from thali._people.populations import ADJUSTED
from thali._posterior.view import COVARIATE, LATENT, parted

from .chains import Sampler
from .density import WORTHS, Density, Spreads
from .draws import sample_posterior
from .laplace import Marginal
from .of_data import build_density, convert_for_likelihood, keep_single_choices
from .predictions import WorthDraws
from .respondents import Respondents, respondents_of, spread_to_respondents
from .scales import ScaleState

if TYPE_CHECKING:
    import xarray

_GOAL = 0.8  # acceptance of trajectories
_NOTES = {
    "log_worth": "the log worths of all options",
    "spread": "the logarithm of the standard deviation of log worths",
    "tie": "the logarithm of nu",
    "covariate": "the coefficients of covariates",
}
_DESCRIPTIONS = {
    "log_worth": "log worth of an option, with a mean of 0 over options; includes effects of option"
    " covariates",
    "spread": "standard deviation of log worths",
    "log_likelihood": "full data set, natural logarithm, including constants such as binomial"
    " coefficients",
    "tie": "nu, the tie parameter",
    "covariate": "covariate coefficients: change in the log odds per unit",
    "choice_probability": "probability that the first of a pair is chosen, given that one is,"
    " including lapses",
    "set_probability": "probability that the alternative is chosen out of those offered, including"
    " lapses",
}


class WorthProblem:
    """Data with the settings of a model, and what their density says; the lattice is made when it
    is first needed."""

    descriptions: ClassVar[Mapping[str, str]] = _DESCRIPTIONS

    def __init__(
        self,
        data: Any,
        lapse: float,
        has_ties: bool,
        rule: str,
        spread: float | None = None,
        people: Any = None,
        usual: str = ADJUSTED,
        has_prior: bool = True,
    ) -> None:
        self.data, self.lapse, self.has_ties, self.rule, self.spread = (
            data,
            lapse,
            has_ties,
            rule,
            spread,
        )
        self._people, self._usual = people, usual
        self.in_form, self.single = convert_for_likelihood(data, rule), keep_single_choices(data)
        self.density: Density = build_density(self.in_form, lapse, has_ties, rule, has_prior)

    @cached_property
    def marginal(self) -> Marginal:
        """The lattice of the density."""
        return Marginal(self.density, self.spread)

    @cached_property
    def respondents(self) -> Respondents:
        """What is made of respondents."""
        return respondents_of(self.in_form, self.marginal, self._people, self._usual)

    @cached_property
    def powered(self) -> Marginal:
        """The lattice of the density whose likelihood is raised to the power that respondents make
        of it."""
        made = self.respondents.by_power
        if made is None or made.power == 1.0:
            return self.marginal
        return Marginal(self.density.raise_to_power(made.power), self.spread)

    # What draws say -------------------------------------------------------------------------------

    @property
    def covariates(self) -> tuple[str, ...]:
        """The covariates of comparisons and of options."""
        return self.data.covariate_names

    @property
    def options(self) -> np.ndarray:
        """Covariates of options (options, covariates), 0 of those of comparisons."""
        own = self.data.covariates
        return np.zeros((self.data.n_options, 0)) if own is None else own.options

    def draws_of(self, points: np.ndarray, chains: int) -> WorthDraws:
        """Return the draws that points (size, draws) are."""
        density = self.density
        beta = points[density.beta].T
        worths = points[density.worths] + self.options @ beta.T
        worths = worths - worths.mean(axis=0)
        nu = np.exp(points[density.nu])[0] if density.rows.has_ties else None
        known = self.covariates, self.options, self.lapse, self.rule
        return WorthDraws(list(self.data.labels), worths.T, nu, beta, *known, chains)

    def groups(self) -> StoredData:
        """Return what is stored of the data."""
        if not isinstance(self.single, Choices):
            return store_pairs(self.single, self.lapse, self.has_ties)
        found = store_sets(self.single, self.lapse)
        return found._replace(
            constants=found.constants | set_size_variables(self.single, self.rule)
        )

    def tree(
        self, points: np.ndarray, logs: np.ndarray, attributes: dict[str, Any]
    ) -> "xarray.DataTree":
        """Return draws of points (chains, draws, size), and of the logarithms of standard
        deviations, as a tree."""
        import xarray as xr

        from thali._posterior.densities import add_log_prior
        from thali._posterior.store import origin, tree_of

        shape, density = points.shape[:2], self.density
        flat, spreads = (
            points.reshape(-1, points.shape[2]).T,
            Spreads(*np.exp(logs.reshape(-1, 4).T)),
        )
        draws, stored = self.draws_of(flat, shape[0]), self.groups()
        labels, each = np.asarray(self.single.labels, dtype=str), ("chain", "draw")
        likelihood = density.log_likelihoods(flat) + stored.log_constant
        variables: dict[Any, Any] = {
            "log_worth": ((*each, "option"), draws.log_worths.reshape(*shape, -1)),
            "spread": (each, spreads.worths.reshape(shape)),
            "log_likelihood": (each, likelihood.reshape(shape)),
        }
        coordinates: dict[Any, Any] = {
            "chain": np.arange(shape[0]),
            "draw": np.arange(shape[1]),
            "option": labels,
        }
        if draws.nu is not None:
            variables["tie"] = each, draws.nu.reshape(shape)
        if self.covariates:
            variables["covariate"] = (*each, COVARIATE), draws.beta.reshape(*shape, -1)
            coordinates[COVARIATE] = np.asarray(self.covariates, dtype=str)
        if self.single.n_options * (self.single.n_options - 1) // 2 <= MAX_PAIRS:
            p = draws.of_pairs(*np.triu_indices(self.single.n_options, k=1))
            variables["choice_probability"] = (*each, "pair"), p.reshape(*shape, -1)
            coordinates |= all_pair_coordinates(labels)
        groups = {}
        asked = self.single.questions(self.has_ties)
        if len(asked.counts) <= MAX_PAIRS:
            p = draws.question_probabilities(self.single, self.has_ties)(slice(0, len(asked.sizes)))
            groups["log_likelihood"] = self._pointwise(asked.log_likelihoods(p), shape, stored)
            if isinstance(self.single, Choices) and self.single.worst is None:
                variables["set_probability"] = (*each, "place"), p.reshape(*shape, -1)
                coordinates |= member_coordinates(self.single)
        groups |= datasets_of(xr.Dataset(variables, coordinates), stored, self.descriptions)
        add_log_prior(groups, self._log_prior(flat, spreads, shape), _NOTES)
        return tree_of(groups, {**origin(), **attributes})

    def tree_of_draws(
        self, draws: WorthDraws, spread: np.ndarray, attributes: dict[str, Any]
    ) -> "xarray.DataTree":
        """Return draws that were made of more data, without covariates, as a tree of these data."""
        nu = np.zeros((0, draws.n_draws)) if draws.nu is None else np.log(draws.nu)[None]
        points = np.concatenate([draws.log_worths.T, nu])
        logs = np.full((draws.n_draws, 4), np.nan)
        logs[:, 0] = np.log(spread)
        points_of_chains = points.T.reshape(draws.chains, -1, len(points))
        tree = self.tree(points_of_chains, logs.reshape(draws.chains, -1, 4), attributes)
        del tree["log_prior"]  # which is that of the whole model
        return tree

    def tree_of_variables(
        self,
        variables: dict[Any, Any],
        coordinates: dict[Any, Any],
        log_tie: np.ndarray,
        stored: StoredData,
        attributes: dict[str, Any],
    ) -> "xarray.DataTree":
        """Return what was drawn where respondents differ as a tree; log nu (chain, draw)."""
        import xarray as xr

        from thali._posterior.store import origin, tree_of

        each = "chain", "draw"
        sizes = zip(each, log_tie.shape, strict=True)
        coordinates |= {name: np.arange(size) for name, size in sizes}
        coordinates["option"] = np.asarray(self.data.labels, dtype=str)
        if self.has_ties:
            variables["tie"] = each, np.exp(log_tie)
        drawn = xr.Dataset(variables, coordinates)
        groups = datasets_of(drawn, stored, self.descriptions)
        parts = parted(drawn)
        if parts[LATENT]:
            groups |= parts
        return tree_of(groups, {**origin(), **attributes})

    def _pointwise(
        self, by_question: np.ndarray, shape: tuple[int, ...], stored: StoredData
    ) -> "xarray.Dataset":
        """Return the log-likelihood of each observation, draw by draw, by the name of the observed
        variable."""
        import xarray as xr

        name, dimension = next((str(name), values[0]) for name, values in stored.observed.items())
        if isinstance(self.single, Choices):
            dimension = "set"
        else:  # a pair may have several questions, one for each different covariates
            starts = np.searchsorted(self.single.cells.pair, np.arange(self.single.n_pairs))
            of_cells = np.bincount(
                self.single.cells.pair, self.single.questions(self.has_ties).log_coefficients()
            )
            by_question = np.add.reduceat(by_question, starts, axis=1)
            by_question = by_question - of_cells + stored.coefficients
        dimensions = ("chain", "draw", dimension)
        coordinates = {
            "chain": np.arange(shape[0]),
            "draw": np.arange(shape[1]),
            **stored.coordinates,
        }
        return xr.Dataset({name: (dimensions, by_question.reshape(*shape, -1))}, coordinates)

    def _log_prior(
        self, flat: np.ndarray, spreads: Spreads, shape: tuple[int, ...]
    ) -> dict[str, np.ndarray]:
        """Return log prior densities (chain, draw) by variable."""
        density = self.density
        parts = density.log_prior_parts(flat, spreads)
        found = {"log_worth": parts["log_worth"]}
        if self.spread is None:
            found["spread"] = density.log_spread_prior(WORTHS, np.log(spreads.worths))
        if self.covariates:
            found["covariate"] = parts["covariate"]
        if self.has_ties:
            found["tie"] = parts["tie"]
        return {name: np.asarray(values).reshape(shape) for name, values in found.items()}


def datasets_of(
    drawn: "xarray.Dataset", stored: StoredData, descriptions: Mapping[str, str]
) -> "dict[str, xarray.Dataset]":
    """Return the groups of a tree that hold draws, which are described, and data."""
    import xarray as xr

    for name, variable in drawn.data_vars.items():
        variable.attrs["description"] = descriptions[str(name)]
    constants = {"kind": stored.kind, **stored.constants}
    return {
        "posterior": drawn,
        "sample_stats": xr.Dataset({}, {name: drawn[name] for name in ("chain", "draw")}),
        "observed_data": xr.Dataset(stored.observed, stored.coordinates),
        "constant_data": xr.Dataset(
            constants, {**stored.coordinates, "option": drawn["option"].values}
        ),
    }


# Draws as chains, so that a fit by them runs, is stored and goes on like any other ----------------


class PointRecord(NamedTuple):
    """The draws so far, a row each."""

    points: np.ndarray  # (draws, size)
    logs: np.ndarray  # (draws, 4) of the standard deviations

    @classmethod
    def empty(cls, draws: int, size: int) -> "PointRecord":
        """Return room for so many draws."""
        return cls(np.zeros((draws, size)), np.zeros((draws, 4)))


class LatticeChain(IndependentDraws):
    """Draws of the lattice, corrected where the density is skew, and spread to respondents."""

    block_size: ClassVar[int] = 1000
    record: PointRecord

    def __init__(self, problem: WorthProblem, draws: int, rng: np.random.Generator) -> None:
        self.problem = problem
        super().__init__(draws, rng)
        self.record = PointRecord.empty(draws, problem.density.size)

    def _draw_block(self, rng: np.random.Generator) -> PointRecord:
        points, spreads = sample_posterior(self.problem.marginal, rng, self.block_size)
        # sweeps make more draws, or fewer
        order = np.arange(self.block_size) * points.shape[1] // self.block_size
        points, marginal, variance = (
            points[:, order],
            self.problem.marginal,
            self.problem.respondents.adjusted,
        )
        if variance is not None:
            points = spread_to_respondents(rng, marginal, variance, points, marginal.mean_mode).wide
        return PointRecord(points.T, np.log(np.array(spreads))[:, order].T)


class TrajectoryChain(FixedChain):
    """A chain of trajectories and moves of scales."""

    _PARTS = ("state", "leap", "sweeps")

    state: ScaleState
    record: PointRecord

    def __init__(
        self, sampler: Sampler, draws: int, tune: int, thin: int, rng: np.random.Generator
    ) -> None:
        super().__init__(draws, tune, thin)
        self.sampler, self.rng = copy.copy(sampler), rng
        self.state, self.leap = sampler.draw_start(rng, 1), np.array(sampler.step)
        self.record = PointRecord.empty(draws, sampler.density.size)

    def run_until(self, until: int) -> None:
        """Make the sweeps up to this one."""
        while self.sweeps < until:
            self.sampler.step = float(self.leap)
            self.state, accepted = self.sampler.sweep(self.rng, self.state)
            self.sweeps += 1
            if self.sweeps <= self.tune:
                change = (float(accepted[0]) - _GOAL) / math.sqrt(self.sweeps + 10.0)
                self.leap = np.array(min(float(self.leap) * math.exp(change), 1.5))
            elif (self.sweeps - self.tune) % self.thin == 0:
                row = self.recorded - 1
                self.record.points[row], self.record.logs[row] = (
                    self.state.points[:, 0],
                    self.state.logs[:, 0],
                )


def tree_of_chains(
    problem: WorthProblem, chains: Sequence[Any], attributes: dict[str, Any]
) -> "xarray.DataTree":
    """Return the draws in the records of chains as a tree."""
    drawn = draws_of_chains(chains)
    points, logs = (np.stack([each[name] for each in drawn]) for name in PointRecord._fields)
    return problem.tree(points, logs, attributes)


def draws_of_chains(chains: Sequence[Any]) -> list[Any]:
    """Return the draws in the records of chains, as many of each."""
    numbers, count = choose_recorded_chains(chains)
    return [
        chains[number].read_draws(chains[number].first, chains[number].first + count)
        for number in numbers
    ]
