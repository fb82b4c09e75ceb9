"""The fit of latent features by Markov chains: lengths of the run, chains, posterior tree."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.markov_chains import FIRST_DRAWS, Run, choose_recorded_chains
from thali._model.chain_runs import ChainFit, remaining_budget

from ..draws.posterior_tree import build_datatree
from ..results.feature_table import add_named_weights
from ..results.saved_posterior_layout import TEMPERED_LATER
from ..samplers.chains import build_chains, count_pilot_sweeps, end_pilot
from ..samplers.sampling_task import FIRST_LEVELS, build_task

if TYPE_CHECKING:
    import xarray

    from ..samplers.chains import FeatureChain
    from .base_model import LatentFeatures

# draws before the first convergence check of tempered chains, whose draws are far apart
FIRST_TEMPERED_DRAWS = 500
MIN_BUDGET_SHARE = 0.5  # remaining share of the budget required to restart with tempering


class FeatureFit(ChainFit["FeatureChain"]):
    """Fit by method "mcmc"; chains that get stuck restart with tempering."""

    model: "LatentFeatures"

    def prepare(self, run: Run) -> None:
        """Build the task of a chain, with the lengths that the size of the data allows."""
        self._read_arguments(run)
        self.faster = self.model._suggest_faster_setting(self.source)
        self.powered_arguments = self.task_arguments
        self.dependence_attributes: dict[str, Any] = {}
        dependence = self.model._choose_dependence(self.source, self.task_arguments)
        if dependence is not None:
            self.powered_arguments = self.task_arguments | {"power": dependence.power}
            self.dependence_attributes = dependence.attributes
        self.has_restarted = False
        self._plan_task(run, self.powered_arguments)

    def _read_arguments(self, run: Run) -> None:
        """Read the arguments of the model, some of which may first be chosen by the data."""
        self.choices = self.model._choose_arguments(self.source, run)
        self.task_arguments = self.model._build_task_arguments(self.source)

    def _plan_task(
        self, run: Run, task_arguments: dict[str, Any], budget_share: float = 1.0
    ) -> None:
        """Build the task and choose its lengths within a share of the CPU budget."""
        self.requested_run = run
        task = build_task(
            data=self.source,
            draws=run.requested_or_first_draws,
            tune=run.tune,
            thin=run.thin,
            **task_arguments,
        )
        first_draws = FIRST_DRAWS
        if run.draws is None and len(task.temperatures) > 1:
            first_draws = FIRST_TEMPERED_DRAWS
        # only then may the budget shorten the run
        if run.max_time is None and (run.draws is None or run.thin is None):
            task = task.add_work_counts(run.progressbar)
        self.budgeted_run = self.set_lengths(
            run, task.thin, task.forecast_sweep_seconds(), first_draws, budget_share
        )
        self.task = replace(
            task,
            draws=self.budgeted_run.first_draws,
            tune=self.run.tune,
            thin=self.budgeted_run.thin,
        )
        if run.thin is None:
            self.task.pilot = count_pilot_sweeps(self.task, run.draws is not None)
        self.is_compiled = self.task.kernel.is_compiled(self.task.model)

    def temper(self, n_sweeps: int) -> bool:
        """Prepare tempered chains, if half of the budget is left after `n_sweeps` sweeps."""
        budget_share = remaining_budget(n_sweeps, self.budgeted_run.sweep)
        if not self.task.may_temper or budget_share < MIN_BUDGET_SHARE:
            return False
        self.has_restarted = True
        tempered_arguments = self.powered_arguments | {"tempering": FIRST_LEVELS}
        self._plan_task(self.requested_run, tempered_arguments, budget_share)
        return True

    def build_chains(self, draws: int, seed: np.random.SeedSequence) -> "list[FeatureChain]":
        """Return new chains with room for this many draws."""
        return build_chains(replace(self.task, draws=draws), self.run.chains, seed)

    def end_pilot(self, chains: "Sequence[FeatureChain]") -> None:
        """Choose the thinning interval of all chains."""
        end_pilot(chains)

    def measure_speedup(self, chains: "Sequence[FeatureChain]") -> float:
        """Return how much faster draws are than forecast, by thinning and number of features."""
        thin_ratio = self.budgeted_run.thin / chains[0].thin
        return thin_ratio / self.task.compute_cost_ratio(chains)

    def build_tree(self, chains: "Sequence[FeatureChain]") -> "xarray.DataTree":
        """Return the posterior tree of the recorded draws."""
        attrs = self.dependence_attributes | {
            "thin": chains[0].thin,
            "tuning_steps": self.task.tune,
            TEMPERED_LATER: int(self.has_restarted),
        }
        recorded_indices, n_draws = choose_recorded_chains(chains)
        draws = [chains[i].collect_draws(chains[i].first + n_draws) for i in recorded_indices]
        tree = build_datatree(
            draws,
            self.source,
            self.task_arguments["likelihood"],
            is_alpha_learned=self.task.model.learn_alpha,
            attrs=attrs,
            task=self.task,
        )
        if name_by_members := self.model._name_given_features(self.source.labels):
            tree = add_named_weights(tree, name_by_members)
        return tree

    def build_attributes(
        self, tree: "xarray.DataTree", chains: "Sequence[FeatureChain]"
    ) -> dict[str, Any]:
        """Return what describes arguments that the data chose."""
        return self.choices
