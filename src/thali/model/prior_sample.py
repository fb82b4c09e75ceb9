"""Simulated data, for every model: `sample_prior` at draws from the prior, `posterior_predictive` at those of a fit."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import whole
from thali.errors import DataError
from thali.inference.quiet import without_warnings
from thali.inference.seeds import streams
from thali.posterior.densities import refuse_large

from .base import Model

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class PriorSample:
    """Draws from the prior and their data, of one chain.

    Datasets have the dimensions (chain, draw, ...), and the variables that `posterior` and `observed_data` have.
    """

    prior: "xarray.Dataset"
    predictive: "xarray.Dataset"
    data: Sequence[tuple[Any, ...] | None]  # of each draw what `fit` takes; None where the model cannot be fitted to it
    fixed: "dict[str, xarray.Dataset]" = field(default_factory=dict)  # groups that are the same in all draws

    def tree(self) -> "xarray.DataTree":
        """The draws in the ArviZ schema."""
        from thali.posterior.store import origin, tree_of

        return tree_of({"prior": self.prior, "prior_predictive": self.predictive, **self.fixed}, origin())


class HasPrior(Model):
    """A model with a prior that can be drawn from.

    A subclass has `_prior_sample(rngs, *design)`, which gives a `PriorSample` with a draw for each generator; the
    design is what `fit` takes.
    """

    def _prior_sample(self, rngs: Sequence[np.random.Generator], *design: Any) -> PriorSample:
        raise NotImplementedError

    def _replicates(self, rng: np.random.Generator, *design: Any) -> "dict[str, np.ndarray]":
        """New data at every draw of the fit, arrays (chain, draw, ...) under their names in `observed_data`."""
        raise NotImplementedError

    def _observed(self, *design: Any) -> dict[str, np.ndarray]:
        """What `observed_data` would hold after a fit to these data."""
        raise NotImplementedError

    def _with_replicates(self, random_seed: Any, *design: Any) -> "xarray.DataTree":
        """The posterior, with the group posterior_predictive."""
        import xarray as xr

        self._require_fitted()
        tree: xr.DataTree = self.posterior_  # type: ignore[attr-defined]
        known = tree["observed_data"].to_dataset()
        given = self._observed(*design)
        if not given or not all(_is_same(known[name].values, values) for name, values in given.items()):
            raise DataError("posterior_predictive needs the data that the model was fitted to, and these are others.")
        posterior = tree["posterior"].dataset
        refuse_large(sum(values.size for values in given.values()), posterior.sizes["chain"] * posterior.sizes["draw"])
        drawn = self._replicates(streams(random_seed, 1)[0], *design)
        result = tree.copy()
        result["posterior_predictive"] = xr.DataTree(predictive_group(known, posterior, drawn))
        return result

    def _arguments(self, design: Any) -> tuple[Any, ...]:
        """What `fit` takes, as one argument of other functions: the data."""
        return (design,)

    def _held_to(self, *design: Any) -> "HasPrior":
        """The model, not fitted, with the prior that it has for this design whatever data it is fitted to."""
        return type(self)(**self.get_params())

    def _refit(self, data: tuple[Any, ...], random_seed: Any, settings: dict[Any, Any]) -> "xarray.DataTree":
        """Fit on one core, and give the posterior."""
        self.fit(*data, random_seed=random_seed, cores=1, progressbar=False, **settings)  # type: ignore[attr-defined]
        return self.posterior_  # type: ignore[attr-defined]

    def _drawn(self, draws: int, random_seed: Any, *design: Any) -> PriorSample:
        """This many draws, each from a separate random stream."""
        draws = whole("draws", draws, 1)
        with without_warnings():  # of unusual data `fit` warns
            return self._prior_sample(streams(random_seed, draws), *design)


class HasPriorOfData(HasPrior):
    """The same of a model whose `fit` takes one data object."""

    def sample_prior(self, data: Any, draws: int = 500, random_seed: Any = None) -> "xarray.DataTree":
        r"""Draw parameters from the prior, and from each of them data of the same design.

        .. math:: \theta^{(s)} \sim p(\theta), \qquad y^{(s)} \sim p(y \mid \theta^{(s)})

        Parameters
        ----------
        data : as `fit` takes them
            They give the design: who is compared with whom and how often, which tasks there are. What was observed
            matters only where a prior depends on it, as that of a learned sigma of similarities does.
        draws : int
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        xarray.DataTree
            In the ArviZ schema: `prior` has the variables of `posterior_["posterior"]` (`log_likelihood` is that of
            the data simulated at the same draw), `prior_predictive` the simulated data, under their names in
            `observed_data`.

        Raises
        ------
        ArgumentError
            If an argument is outside its range.
        DataError
            If the data cannot be used.

        Examples
        --------
        >>> import thali as th
        >>> tree = th.EliminationByAspects().sample_prior(th.datasets.celebrities(), draws=100, random_seed=1)
        >>> tree["prior_predictive"]["wins"].shape
        (1, 100, 36)
        """
        return self._drawn(draws, random_seed, data).tree()

    def posterior_predictive(self, data: Any, random_seed: Any = None) -> "xarray.DataTree":
        r"""Draw data of the same design at every draw of the posterior.

        .. math:: y^{(s)} \sim p(y \mid \theta^{(s)}), \qquad \theta^{(s)} \sim p(\theta \mid y_\text{observed})

        Parameters
        ----------
        data : as `fit` takes them
            Those of the fit.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        xarray.DataTree
            `posterior_`, with a further group `posterior_predictive`: the variables of `observed_data`, each with the
            dimensions (chain, draw, ...). ArviZ compares the two (`plot_ppc_dist`, `plot_ppc_pit`, `loo_pit`).

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the data are not those of the fit, cannot be simulated (weighted counts), or would be more than
            20,000,000 numbers.
        ArgumentError
            If a likelihood of your own has no function `simulate`.

        Examples
        --------
        >>> import thali as th
        >>> data = th.datasets.celebrities()
        >>> model = th.EliminationByAspects("unique")
        >>> model = model.fit(data, draws=500, tune=500, random_seed=1, progressbar=False)
        >>> model.posterior_predictive(data, random_seed=1)["posterior_predictive"]["wins"].shape
        (4, 500, 36)
        """
        return self._with_replicates(random_seed, data)


def _is_same(known: np.ndarray, given: np.ndarray) -> bool:
    """Whether an observed variable holds just these values."""
    return np.array_equal(known, given, equal_nan=given.dtype.kind == "f")


def stacked(values: Any, dims: Sequence[Any] = ()) -> tuple[tuple[Any, ...], np.ndarray]:
    """One value a draw as a variable with the dimensions chain, draw, and those of a value."""
    return ("chain", "draw", *dims), np.asarray(values)[None]


def predictive_group(
    observed: "xarray.Dataset", sampled: "xarray.Dataset", values: dict[str, np.ndarray]
) -> "xarray.Dataset":
    """Simulated data (chain, draw, ...) with the dimensions and coordinates of the observed ones."""
    group = observed.drop_vars(list(observed.data_vars)).assign_coords(chain=sampled["chain"], draw=sampled["draw"])
    return group.assign(
        {
            name: (("chain", "draw", *observed[name].dims), drawn.astype(observed[name].dtype), observed[name].attrs)
            for name, drawn in values.items()
        }
    )
