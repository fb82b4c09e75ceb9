"""The engines of the sparse logit: draws of chains or of a normal law, the maximum, and the choice by size."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._described import Facts
from thali.errors import ConvergenceWarning, Setting, ThaliWarning
from thali.model.base import Job
from thali.model.engine import Chains, Engine

if TYPE_CHECKING:
    import pandas

    from thali.posterior.verdict import Advice, Verdict


class OfDraws(Chains):
    """A method whose fit leaves draws; this one runs chains."""

    takes_sparse = False
    law = ""  # what independent draws come from

    def sampling(self, model: Any, source: Any, run: Any) -> Any:
        """What the fit runs."""
        from .by_chains import sampling_of_chains

        return sampling_of_chains(model, source, run)

    def job(self, model: Any, data: Any, prior: Any, run: Any) -> Job:
        """The fit."""
        source = data._replace(matrix=model._standard_.varying(data.matrix))
        return model._job_of(model._sampling(source, run), model._size(len(data.row)))

    def advice(self, model: Any) -> "Advice":
        """What helps draws that disagree."""
        from thali.posterior.verdict import Advice

        return Advice()

    def verdict(self, model: Any) -> "Verdict":
        from thali.posterior.summary import summary_table
        from thali.posterior.verdict import verdict_of

        from .draws import MAX_COEFFICIENTS, quantities_of

        return verdict_of(summary_table(quantities_of(model._fitted(), MAX_COEFFICIENTS)), model._advice())

    def probabilities(self, model: Any, matrix: np.ndarray) -> np.ndarray:
        """Averaged over the draws."""
        from .draws import mean_probabilities

        return mean_probabilities(model.posterior_, model._standard_.varying(matrix), model._position())


class Normal(OfDraws):
    """Independent draws of a normal law."""

    def __init__(self, law: str, has_bound: bool) -> None:
        self.law, self.has_bound = law, has_bound  # `lower_bound_`

    def sampling(self, model: Any, source: Any, run: Any) -> Any:
        from .by_laplace import sampling_of_normal

        return sampling_of_normal(model, source, run)

    def outcome(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        yield from super().outcome(model, job)
        if not model.converged_:
            yield ConvergenceWarning(
                "The normal approximation has not settled; take ", Setting("method", "polya-gamma"), "."
            )

    def advice(self, model: Any) -> "Advice":
        from .by_laplace import ADVICE

        return ADVICE


class Auto(OfDraws):
    """The method that suits the size of the data, `method_`."""

    def sampling(self, model: Any, source: Any, run: Any) -> Any:
        return model._used.sampling(model, source, run)

    def outcome(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        yield from model._used.outcome(model, job)

    def advice(self, model: Any) -> "Advice":
        return model._used.advice(model)

    def facts(self, model: Any) -> Facts:
        return ("method", f"{model.method_}, chosen by the size of the data"), *super().facts(model)


class Maximum(Engine):
    """The maximum of the posterior for a fixed eta."""

    has_prior = True
    takes_sparse = True

    def job(self, model: Any, data: Any, prior: Any, run: Any) -> Job:
        """The fit."""
        from .at_maximum import by_map

        return by_map(model, model._for_maximum(data, prior), prior.eta, model._size(len(data.row)))

    def outcome(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        if not model.converged_:
            yield ConvergenceWarning(
                f"The coefficients have not settled after {model.n_iter_} steps (the slope is still "
                f"{model.slope_:.1e} a row); standardise the covariates or choose a larger eta."
            )

    def facts(self, model: Any) -> Facts:
        count = f"{np.count_nonzero(model.scaled_coef_):,} of {model.scaled_coef_.size:,} are not 0"
        return ("coefficients", count), ("log-likelihood", f"{model.log_likelihood_:,.2f} (all rows)")

    def summary(self, model: Any) -> "pandas.DataFrame":
        """The coefficients that are not 0, the largest first."""
        from .at_maximum import summary_of_maximum

        return summary_of_maximum(model)

    def probabilities(self, model: Any, matrix: np.ndarray) -> np.ndarray:
        """At the maximum."""
        from .at_maximum import probabilities_at_maximum

        return probabilities_at_maximum(model, matrix)


ENGINES: dict[str, Any] = {
    "polya-gamma": OfDraws(),
    "holmes-held": OfDraws(),
    "laplace": Normal("normal", False),
    "variational": Normal("variational normal", True),
    "map": Maximum(),
    "auto": Auto(),
}
