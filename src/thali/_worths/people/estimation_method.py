"""The method that fits individual worths of respondents by Markov chains."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.markov_chains import cut_records
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._model.simulated_data import PriorSample
from thali._people.respondent_columns import no_covariates_error
from thali._posterior.convergence_check import Advice
from thali._posterior.posterior_tree import Posterior

from ..estimation_methods import LaplaceEngine, WorthFit, WorthResults
from ..simulation import build_prior_sample
from ..worth_draws import MAX_SUMMARY_OPTIONS, Quantities, WorthDraws
from .gibbs_sweep import PeopleRecord
from .individual_posterior import PeopleProblem
from .log_predictive import estimate_log_predictive
from .respondent_draws import RespondentDraws, draw_new_respondents, read_respondent_draws
from .respondent_fit import check_respondents, predict_respondents
from .respondent_tables import tabulate_group_scores
from .simulation import observe_counts, sample_people_record, simulate_answers

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons
    from thali._model.option_scores import ScoreScale

    from ..model import BradleyTerryLuce


FIRST_DRAWS = 500  # draws of each chain at the first convergence check


class RespondentFit(WorthFit):
    """Fit of the worths of respondents by Markov chains."""

    first_draws = FIRST_DRAWS

    def build_chains(self, draws: int, seed: np.random.SeedSequence) -> list[Any]:
        """Return new chains of the problem's parameters."""
        return [
            self.problem.build_chain(draws, self.run.tune, self.run.thin or 1, rng)
            for rng in spawn_generators(seed, self.run.chains)
        ]

    def build_tree(self, chains: Sequence[Any]) -> "xarray.DataTree":
        """Return the posterior tree of the chains."""
        records = [PeopleRecord(**draws) for draws in cut_records(chains)[1]]
        return self.problem.build_tree_from_records(records, self.describe_run())


class IndividualResults(WorthResults):
    """Results of a fit of individual worths that are computed from its draws."""

    @cached_property
    def respondent_draws(self) -> RespondentDraws:
        """Draws of all respondents' worths."""
        return read_respondent_draws(self.posterior)

    @cached_property
    def prediction_draws(self) -> WorthDraws:
        """Draws of new respondents, over which predictions are averaged."""
        return draw_new_respondents(self.draws, self.respondent_draws)

    def describe_respondents(self, model: "BradleyTerryLuce") -> Any:
        """Return the results about respondents with individual worths."""
        from .respondent_results import WorthRespondents

        return WorthRespondents(model, self.draws, self.respondent_draws)

    def draw_new_respondents(self, respondent: Mapping[str, Any]) -> WorthDraws:
        """Draw worths of new respondents with these covariates."""
        covariates = self.respondent_draws.covariates
        if covariates is None:
            raise no_covariates_error()
        x = covariates.encode_respondent(respondent)
        return draw_new_respondents(self.draws, self.respondent_draws, x)

    def get_quantities(self) -> Quantities:
        """Return draws of the summary rows, by name."""
        posterior = self.posterior
        labels = posterior.labels
        quantities = {"spread_of_respondents": posterior.draws["spread_of_respondents"].values}
        covariates = self.respondent_draws.covariates
        if covariates is not None and len(labels) <= MAX_SUMMARY_OPTIONS:
            effects = self.respondent_draws.effects
            for r, covariate_name in enumerate(covariates.names):
                for i, label in enumerate(labels):
                    quantity_name = f"respondent_effect[{covariate_name}, {label}]"
                    quantities[quantity_name] = effects[:, r, i].reshape(posterior.shape)
        return quantities | self.draws.get_quantities(None)

    def build_scores_table(
        self, scale: "ScoreScale", by: Any, random_seed: RandomSeed, ci: float
    ) -> "pandas.DataFrame":
        """Return a table of mean scores over respondents, or by group of `by`."""
        return tabulate_group_scores(
            self.respondent_draws, self.posterior.labels, scale, by, random_seed, ci
        )

    def log_predictive(self, choices: Any) -> "pandas.Series":
        """Return log predictive probability of each new respondent's choices."""
        return estimate_log_predictive(self.draws, self.respondent_draws, choices)

    def check_replicates(
        self, data: "PairedComparisons | Choices", random_seed: RandomSeed, ci: float
    ) -> "pandas.DataFrame":
        """Return a table of observed answers against each respondent's replicates."""
        return check_respondents(self.draws, self.respondent_draws, data, random_seed, ci)

    def tabulate_predictions(
        self, data: "PairedComparisons | Choices", ci: float
    ) -> "pandas.DataFrame":
        """Return a table of observed and predicted proportions."""
        return predict_respondents(self.draws, self.respondent_draws, data, ci)

    def simulate_data(
        self, problem: PeopleProblem, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Simulate all respondents' answers at every draw of a fit."""
        answer_counts = simulate_answers(problem, self.draws, self.respondent_draws, rng).counts
        observed_variables = observe_counts(problem, answer_counts)
        return {
            name: arrays.reshape(*self.posterior.shape, -1)
            for name, arrays in observed_variables.items()
        }


class IndividualsEngine(LaplaceEngine):
    """Fits individual worths and their population by chains."""

    advice = Advice()
    default_tune = 300
    has_evidence = False
    findings = "thali._worths.people.findings"
    problem_class = PeopleProblem
    fit_class = RespondentFit
    results_class = IndividualResults

    def sample_prior(
        self, problem: PeopleProblem, rngs: Sequence[np.random.Generator]
    ) -> PriorSample:
        """Sample worths from the prior and data given them, once per generator."""
        record = sample_people_record(problem, rngs)
        posterior = Posterior(problem.build_tree_from_records([record], {}))
        results = IndividualResults(posterior)
        simulation = simulate_answers(problem, results.draws, results.respondent_draws, rngs[0])
        simulated = observe_counts(problem, simulation.counts)
        empty_data = [None] * len(rngs)
        return build_prior_sample(posterior, simulation.log_likelihood, simulated, empty_data)


INDIVIDUALS = IndividualsEngine()
