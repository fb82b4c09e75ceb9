"""Fits of product classes: by Markov chains, and by groups of particles."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.markov_chains import Run
from thali._inference.progress_display import format_duration
from thali._model.chain_runs import BUDGET, ChainFit, open_fit_folder
from thali._model.fitting_methods import Forecast
from thali._posterior.posterior_tree import PosteriorTree
from thali.errors import Argument, ArgumentError, Setting

from .fit_preparation import (
    FIRST_DRAWS,
    LOOK_DRAWS,
    MAX_DRAWS,
    THIN,
    estimate_draw_seconds,
    estimate_steps,
    estimate_sweep_seconds,
    schedule_next_look,
)

if TYPE_CHECKING:
    import xarray

    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.fitted_design import ExperimentDesign
    from thali._inference.array_dict_encoding import Arrays
    from thali._posterior.convergence_check import ConvergenceCheck

    from .model import ProductClasses
    from .samplers.mcmc import ClassChain
    from .state import ClassProblem


class ClassChainFit(ChainFit["ClassChain"]):
    """Fit by method "mcmc": independent chains, annealed during tuning."""

    model: "ProductClasses"
    source: "ChoiceExperiment"
    max_draws = MAX_DRAWS

    def prepare(self, run: Run) -> None:
        """Limit the lengths to what the size of the data allows."""
        # the convergence checks take a share of the budget
        check_seconds = LOOK_DRAWS * run.chains * estimate_draw_seconds(self.source)
        budget_share = max(1.0 - check_seconds / BUDGET, 0.5)
        self.sweep_seconds = estimate_sweep_seconds(self.source)
        self.thin = self.set_lengths(
            run, run.thin or THIN, self.sweep_seconds, FIRST_DRAWS, budget_share
        ).thin
        self.run = self.run._replace(thin=self.thin)
        if run.max_time is not None:
            self.data_max_draws = MAX_DRAWS
        self.problem: ClassProblem = self.inputs
        self.reports_by_draw: dict[bytes, Any] = {}  # of draws at earlier convergence checks

    @cached_property
    def design(self) -> "ExperimentDesign":
        """The products and tasks that the posterior describes."""
        from thali._data.experiments.fitted_design import build_design

        return build_design(self.source)

    def build_chains(self, draws: int, seed: np.random.SeedSequence) -> "list[ClassChain]":
        """Return new chains of this many draws."""
        from .samplers.mcmc import build_chains

        return build_chains(self.problem, self.model.lapse, self.run, draws, seed)

    def build_tree(self, chains: "Sequence[ClassChain]") -> "xarray.DataTree":
        """Return the posterior tree of the draws that are kept."""
        from .posterior_datatree import build_classes_datatree
        from .samplers.mcmc import build_engine_result

        fit_result = build_engine_result(chains)
        attrs = {"draws": fit_result.draws, "tune": self.run.tune, "thin": self.thin}
        return build_classes_datatree(
            fit_result, self.design, attrs, self.run.cores, self.reports_by_draw
        )

    def build_attributes(
        self, tree: "xarray.DataTree", chains: "Sequence[ClassChain]"
    ) -> dict[str, Any]:
        """Return the attributes of the tree, and the respondents' table."""
        return read_fitted_attributes(tree) | {"_people_": self.source.people}

    def count_draws(self, tree: "xarray.DataTree") -> int:
        """Return the draws per chain, of which the tree keeps some."""
        return int(tree.attrs["draws"])

    def read_draws(self, tree: "xarray.DataTree") -> "list[Arrays]":
        """Return the draws of a posterior by chain, because later draws thin them."""
        from .samplers.mcmc import read_chain_draws

        return read_chain_draws(tree)

    def format_status(self, chains: "Sequence[ClassChain]") -> str:
        """Return lapse rate and acceptance rate of the chains as text."""
        from .samplers.mcmc import format_chain_status

        return format_chain_status(chains)

    def measure_speedup(self, chains: "Sequence[ClassChain]") -> float:
        """Return how much faster a sweep is than forecast; many classes make it slower."""
        from .samplers.mcmc import compute_mean_classes

        return min(
            1.0,
            self.sweep_seconds / estimate_sweep_seconds(self.source, compute_mean_classes(chains)),
        )

    def choose_next_check(self, draws: int, convergence: "ConvergenceCheck") -> int:
        """Return the draws per chain that the convergence check asks for."""
        return schedule_next_look(draws, convergence)


class ParticleFit:
    """Fit by method "smc": groups of particles, which also estimate the evidence."""

    def __init__(
        self,
        model: "ProductClasses",
        source: "ChoiceExperiment",
        run: Run,
        problem: "ClassProblem",
        sweeps_per_step: int,
    ) -> None:
        """Forecast the run time; raise ArgumentError if it is above the limit."""
        self.model = model
        self.source = source
        self.run = run
        self.problem = problem
        self.sweeps_per_step = sweeps_per_step
        self.forecast = forecast_particles(source, run, sweeps_per_step)
        if run.max_time is None and self.forecast.least > BUDGET:
            raise ArgumentError(
                "Computing the evidence for this number of choices would take"
                f" {format_duration(self.forecast.least)} of CPU time, above the limit of"
                f" {format_duration(BUDGET)}. Set ",
                Setting("method", "mcmc"),
                ", or raise the limit with ",
                Argument("max_time"),
                ".",
            )

    def run_to_end(self) -> dict[str, Any]:
        """Run the particles, from their job folder if any; return the fitted attributes."""
        from thali._data.experiments.fitted_design import build_design

        from .posterior_datatree import build_classes_datatree
        from .samplers.smc import run_smc

        run = self.run
        job_settings = {
            "draws": run.draws,
            "chains": run.chains,
            "sweeps_per_step": self.sweeps_per_step,
        }
        with open_fit_folder(self.model, job_settings, self.source, run) as (folder, seed):
            fit_result = run_smc(
                self.problem, self.model.lapse, run, self.sweeps_per_step, seed, folder
            )
        attrs = {"draws": fit_result.draws, "interrupted": int(fit_result.interrupted)}
        tree = build_classes_datatree(fit_result, build_design(self.source), attrs, run.cores, {})
        return read_fitted_attributes(tree) | {"_people_": self.source.people}


def forecast_particles(data: "ChoiceExperiment", run: Run, sweeps_per_step: int) -> Forecast:
    """Forecast the run time of sequential Monte Carlo."""
    assert run.draws is not None
    n_sweeps = estimate_steps(np.diff(data.first_row)) * sweeps_per_step
    sweep_seconds = estimate_sweep_seconds(data)
    cpu_seconds = run.chains * run.draws * (n_sweeps * sweep_seconds + estimate_draw_seconds(data))
    return Forecast(cpu_seconds, cpu_seconds, sweep_seconds)


def read_fitted_attributes(tree: "xarray.DataTree") -> dict[str, Any]:
    """Return the fitted attributes by name, from a posterior tree."""
    from thali._data.experiments.fitted_design import read_design

    from .ragged_draws import read_particles

    posterior = PosteriorTree(tree)
    sample_stats = posterior.stats
    return {
        "posterior_": tree,
        "_log_evidence_": float(sample_stats["log_evidence"]),
        "_log_evidence_se_": float(sample_stats["log_evidence_se"]),
        "_evidence_sd_": float(sample_stats["evidence_sd"]),
        "_messages_": [line for line in str(tree.attrs.get("messages", "")).split("\n") if line],
        "_interrupted_": bool(tree.attrs.get("interrupted", 0)),
        "_draws_": read_particles(tree["particles"].to_dataset()),
        "_design_": read_design(posterior.fixed),
    }
