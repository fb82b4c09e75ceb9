"""The method of worths of respondents who differ: chains of individual worths."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.chains import Run
from thali._inference.seeds import spawn_generators
from thali._model.prior_sample import PriorSample
from thali._model.sampling import Sampling
from thali._people.columns import no_covariates
from thali._posterior.convergence import Advice

from ..engines import LaplaceEngine, describe_run, keep_tree, read_draws, sampling_of_chains
from ..posterior import draws_of_chains
from ..predictions import MAX_OPTIONS, Quantities, WorthDraws
from .check import check_respondents, predict_respondents
from .draws import RespondentDraws, draw_new_respondents, read_respondent_draws
from .log_predictive import log_predictive_of_new
from .simulation import draw_record, observe_counts, sample_prior, simulate_answers
from .tables import scores_by

if TYPE_CHECKING:
    import pandas

    from thali._model.option_scores import ScoreScale


FIRST_DRAWS = 500  # of each chain, at which chains are looked at first


class IndividualsEngine(LaplaceEngine):
    """Chains of the worths of every respondent and of their population."""

    advice = Advice()
    usual_tune = 300
    has_evidence = False
    findings = "thali._worths.people.findings"
    completed = staticmethod(keep_tree)
    read_respondents = staticmethod(read_respondent_draws)
    draw_record = staticmethod(draw_record)

    def sampling(self, model: Any, source: Any, run: Run) -> Sampling[Any]:
        """What a fit to these data runs."""
        problem = model._problem(source)

        def chains(draws: int, seed: Any) -> list[Any]:
            settings = draws, run.tune, run.thin or 1
            return [problem.chain(*settings, rng) for rng in spawn_generators(seed, run.chains)]

        def tree(chains: Sequence[Any]) -> Any:
            records = [problem.record(**each) for each in draws_of_chains(chains)]
            return problem.tree_of_records(records, describe_run(run))

        return sampling_of_chains(source, run, chains, tree, FIRST_DRAWS, self.completed)

    def respondents_of(self, model: Any) -> RespondentDraws:
        """Return the draws of every respondent."""
        return model._compute_once("respondents", lambda: self.read_respondents(model._view))

    def respondents(self, model: Any) -> Any:
        """Return the results about respondents."""
        from .respondents import WorthRespondents

        return WorthRespondents(model, self.respondents_of(model))

    def means_of(self, model: Any, respondent: Any = None) -> WorthDraws:
        """Return what predictions are means over: new respondents of the population."""
        drawn = self.respondents_of(model)
        x = None
        if respondent is not None:
            if drawn.known is None:
                raise no_covariates()
            x = drawn.known.of_person(respondent)
        return draw_new_respondents(self.draws_of(model), drawn, x)

    def quantities(self, model: Any) -> Quantities:
        view, labels = model._view, model._view.labels
        found = {"spread_of_respondents": view.draws["spread_of_respondents"].values}
        drawn = self.respondents_of(model)
        if drawn.known is not None and len(labels) <= MAX_OPTIONS:
            effects = drawn.effects
            for r, name in enumerate(drawn.known.names):
                for i, label in enumerate(labels):
                    found[f"respondent_effect[{name}, {label}]"] = effects[:, r, i].reshape(
                        view.shape
                    )
        return found | model._draws.quantities(None)

    def scores(
        self, model: Any, scale: "ScoreScale", by: Any, random_seed: Any, ci: float
    ) -> "pandas.DataFrame":
        return scores_by(self.respondents_of(model), model._view.labels, scale, by, random_seed, ci)

    def log_predictive(self, model: Any, choices: Any) -> "pandas.Series":
        return log_predictive_of_new(model._draws, self.respondents_of(model), choices)

    def check(self, model: Any, data: Any, random_seed: Any, ci: float) -> "pandas.DataFrame":
        return check_respondents(model._draws, self.respondents_of(model), data, random_seed, ci)

    def predictions(self, model: Any, data: Any, ci: float) -> "pandas.DataFrame":
        return predict_respondents(model._draws, self.respondents_of(model), data, ci)

    def sample_prior(self, problem: Any, rngs: Any) -> PriorSample:
        record = self.draw_record(problem, rngs)
        return sample_prior(problem, record, rngs, read_draws, self.read_respondents)

    def replicates(self, model: Any, problem: Any, rng: Any) -> dict[str, np.ndarray]:
        view = model._view
        counts = simulate_answers(problem, model._draws, self.respondents_of(model), rng).counts
        each = observe_counts(problem, counts)
        return {name: values.reshape(*view.shape, -1) for name, values in each.items()}


INDIVIDUALS = IndividualsEngine()
