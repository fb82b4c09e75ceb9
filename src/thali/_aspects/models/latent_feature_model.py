"""The model that joins any prior over features with any likelihood."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._model.method_requirements import requires
from thali._posterior.posterior_tree import Posterior
from thali.errors import ArgumentError, DataError

from ..draws.feature_columns import read_columns
from ..likelihoods.custom import Custom, is_unavailable
from ..likelihoods.custom_posterior_parts import predict_by_draw
from ..priors.prior_from_argument import FeaturePrior, convert_tree
from .choice_result_methods import ChoiceAnswers

if TYPE_CHECKING:
    import numpy

    from thali._trees.tree import Tree

    from ..samplers.sampling_task import Likelihood


class LatentFeatureModel(ChoiceAnswers):
    r"""Any prior over features joined with any likelihood, for research.

    .. math:: P(Z, w \mid \text{data}) \propto P(\text{data} \mid Z, w)\, P(Z)\, \prod_k p(w_k)

    Parameters
    ----------
    prior : one of `thali.priors`, or a Tree
        Over the binary matrix Z, options by features. A `Tree` means the phylogenetic Indian
        buffet process on it.
    likelihood : one of `thali.likelihoods`
        `thali.likelihoods.Custom` makes a likelihood from your functions.
    weight_prior : (shape, rate), both above 0, or thali.likelihoods.Normal(mean, sd)
        Gamma distribution of every weight, or normal distribution of weights of either sign, which
        only a custom likelihood allows. The sampler is fastest with shape 1; for other shapes
        features of a single option are sampled like all other features, without the moves that
        need exponential weights.
    alpha : float above 0, optional
        Concentration of the prior; None learns it under a Gamma(1, 1) prior.
    tempering : {None, "auto"}, {False, "off"}, int or sequence of float
        Parallel tempering: each chain runs replicas at several temperatures, which are swapped, so
        that it does not stay in one family of features. None, "auto": 8 temperatures at the start
        for similarities and for elimination without unique aspects, if features are learned;
        otherwise one. False, "off": one temperature. A number: this number of temperatures up to 10
        at the start; more are added during tuning, until neighbours are swapped often enough. A
        sequence increasing from 1: these temperatures.

    Attributes
    ----------
    posterior_ : xarray.DataTree
        After `fit`: the draws in the ArviZ schema.

    References
    ----------
    Görür, Jäkel & Rasmussen (2006); Griffiths & Ghahramani (2005).

    Examples
    --------
    >>> import thali as th
    >>> model = th.LatentFeatureModel(
    ...     th.priors.IndianBuffet(), th.likelihoods.Elimination(lapse=0.01)
    ... )
    >>> model = model.fit(
    ...     th.datasets.paris_rome(expected=True),
    ...     draws=50,
    ...     tune=50,
    ...     random_seed=1,
    ...     progressbar=False,
    ... )
    >>> model.posterior_["posterior"].sizes["chain"]
    4
    """

    def __init__(
        self,
        prior: FeaturePrior,
        likelihood: "Likelihood",
        weight_prior: tuple[float, float] = (1.0, 1.0),
        alpha: float | None = None,
        tempering: str | Sequence[float] | None = None,
    ) -> None:
        self.prior = prior
        self.likelihood = likelihood
        self.weight_prior = weight_prior
        self.alpha = alpha
        self.tempering = tempering

    def _build_task_arguments(self, data: Any) -> dict[str, Any]:
        """Return arguments of the sampling task: prior, likelihood and others."""
        argument_names = ("likelihood", "weight_prior", "alpha", "tempering")
        return {"prior": convert_tree(self.prior)} | {
            name: getattr(self, name) for name in argument_names
        }

    def predict_proba(self, sets: Any, return_se: bool = False) -> Any:  # type: ignore[override]
        """Return posterior mean probabilities of choices or most similar pairs, with lapses.

        Parameters
        ----------
        sets : list, Choices or Triplets
            As of `EliminationByAspects.predict_proba`, or for a fit to triplets of
            `AdditiveClustering.predict_proba`.
        return_se : bool
            Whether to give the Monte Carlo standard error of each probability, too.

        Returns
        -------
        ndarray or list of ndarray
            As there.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If a label is unknown, an entry is not a set, or the model was fitted to other data.
        """
        return super().predict_proba(sets, return_se)

    def _require_custom_prediction(self, answer_name: str) -> None:
        """Raise ArgumentError unless a custom likelihood has a `predict` function."""
        self._require_posterior()
        likelihood = self.likelihood
        if not isinstance(likelihood, Custom) or is_unavailable(likelihood.predict):
            raise ArgumentError(
                "predict requires a custom likelihood with a prediction function: Custom(...,"
                " predict=function), where function takes (data, features, weights). Saved files"
                " do not contain functions, so pass the function again after loading, or use"
                " predict_proba."
            )

    @requires(_require_custom_prediction)
    def predict(self, data: Any = None) -> "numpy.ndarray":
        """Return the posterior mean of the likelihood's function `predict`.

        .. math:: \\frac1S \\sum_s \\text{predict}(\\text{data}, Z^{(s)}, w^{(s)})

        Parameters
        ----------
        data : NamedTuple, optional
            Data of the same class and labels, such as other covariates; None: the data of the fit.

        Returns
        -------
        ndarray
            Of the shape that `predict` returns.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the likelihood has no function `predict`, or its shape changes from draw to draw.
        DataError
            If the data have other labels.
        """

        if data is None:
            data = self._get_fit_data()
        return compute_prediction_mean(self._view, self.likelihood, data)

    def _get_prior_tree(self) -> "Tree | None":
        """Return the tree of the phylogenetic prior, or None."""
        from ..priors.phylogenetic import PhylogeneticBuffet

        prior = convert_tree(self.prior)
        if isinstance(prior, PhylogeneticBuffet):
            return prior.tree
        return None

    def _convert_data(self, data: Any) -> Any:
        # only likelihoods with their own data class define this
        """Return the data converted as the likelihood requires."""
        convert_data = getattr(self.likelihood, "wrap_data", super()._convert_data)
        return convert_data(data)


# Predictions of a likelihood of the user: the mean over draws of the function that the user gave


def compute_prediction_mean(posterior: Posterior, likelihood: Any, data: Any) -> np.ndarray:
    """Return the posterior mean of `predict` for these data."""
    observed = likelihood.wrap_data(data)
    if observed.labels != tuple(posterior.labels):
        raise DataError("predict requires data with the labels of the fit, in the same order.")
    parameter_draws = {name: array.ravel() for name, array in posterior.parameters.items()}
    predictions = predict_by_draw(likelihood, observed, read_columns(posterior), parameter_draws)
    return np.mean(predictions, axis=0)
