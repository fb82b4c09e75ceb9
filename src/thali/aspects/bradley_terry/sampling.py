"""The fit of worths by Laplace's approximation: a run of chains whose draws are independent."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from thali._labels import shorten
from thali.data.pairs import PairedComparisons
from thali.errors import Argument, ArgumentError, DataError, Setting
from thali.inference.chains import Run, kept_of
from thali.inference.seeds import streams
from thali.model.sampling import Sampling

from ..answers.stored_layout import APPROXIMATE, STARTED_ANEW
from ..likelihoods.elimination import as_pairs
from ..priors.given import Given
from .chain import WorthChain
from .density import density_of
from .laplace import NormalWorths

if TYPE_CHECKING:
    import xarray

    from ..samplers.chains import Task


ATTRIBUTES = {"thin": 1, "tuning_steps": 0, STARTED_ANEW: 0, APPROXIMATE: 1}  # of the posterior


def checked_pairs(source: Any, parts: dict[str, Any]) -> PairedComparisons:
    """The data, if they and the parts of the model leave nothing but worths to learn."""
    prior, by_mcmc = parts["prior"], Setting("method", "mcmc")
    if not isinstance(prior, Given) or prior.matrix.any() or not parts["likelihood"].unique:
        raise ArgumentError(
            Setting("method", "laplace"), " is for ", Setting("aspects", "unique"), " alone; set ", by_mcmc, "."
        )
    for name in ("sampler", "tempering"):
        if parts[name] is not None:
            raise ArgumentError(Argument(name), " belongs to ", by_mcmc, "; leave it out.")
    data = as_pairs(source, parts["likelihood"].best_worst)
    if not isinstance(data, PairedComparisons):
        raise DataError(
            "Laplace's approximation is for paired comparisons, and these are choices out of larger sets; set ",
            by_mcmc,
            ".",
        )
    if data.covariates is not None:
        raise DataError(
            f"Laplace's approximation knows no covariates, and the comparisons have {shorten(data.covariates.names)}; "
            "set ",
            by_mcmc,
            ".",
        )
    return data


def sampling_of_worths(source: Any, run: Run, parts: dict[str, Any], task: "Task") -> Sampling[WorthChain]:
    """The run for these data; `parts` are those of the model, `task` what its chains would run by MCMC."""
    data, likelihood = checked_pairs(source, parts), parts["likelihood"]
    if run.thin is not None:
        raise ArgumentError(
            Argument("thin"), " belongs to ", Setting("method", "mcmc"), "; leave it out: these draws are independent."
        )
    worths = NormalWorths(density_of(data, likelihood.lapse, likelihood.ties))

    def tree(chains: Sequence[WorthChain]) -> "xarray.DataTree":
        from ..draws.tree import to_datatree

        numbers, count = kept_of(chains)
        draws = [chains[number].draws_before(chains[number].first + count) for number in numbers]
        return to_datatree(draws, source, likelihood, learned_alpha=False, attrs=ATTRIBUTES, task=task)

    return Sampling(
        source=source,
        run=run,
        chains=lambda draws, seed: [WorthChain(worths, draws, rng) for rng in streams(seed, run.chains)],
        tree=tree,
        found=lambda tree, chains, seed: {},
        is_compiled=True,
    )
