"""What a sparse multinomial logit answers about its coefficients."""

from typing import TYPE_CHECKING, Any

from thali._late import carried_out_by

from .at_maximum import other_classes, path_of, varying_names

if TYPE_CHECKING:
    import pandas


class CoefficientAnswers:
    """Tables of the coefficients."""

    if TYPE_CHECKING:

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def _with_draws(self) -> Any: ...

    def coefficient_path(self, X: Any, y: Any, eta: Any = None, sample_weight: Any = None) -> "pandas.DataFrame":
        """The maximum of the posterior for many values of eta, each found from the one before.

        The model is left as it is, whatever its method and prior; the path is that of the Laplace prior.

        Parameters
        ----------
        X : array, data frame or sparse matrix (n, d)
        y : sequence of str, int or bool (n,)
            As for `fit`.
        eta : sequence of float above 0, optional
            None takes 30 values, from the smallest for which all coefficients are 0 down to 1/10,000 of it.
        sample_weight : sequence of float (n,), optional

        Returns
        -------
        pandas.DataFrame
            One row an eta, falling: eta, non_zero (the number of coefficients that are not 0), log_likelihood,
            objective and coef[class, covariate] of standardised covariates.

        Raises
        ------
        DataError
            If X, y, the weights or eta cannot be used.

        Examples
        --------
        >>> import numpy as np
        >>> import thali as th
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> path = th.SparseMultinomialLogit().coefficient_path(X, X[:, 0] + X[:, 1] > 0.1)
        >>> path["non_zero"].iloc[[0, -1]].tolist()
        [0, 3]
        """
        model: Any = type(self)(**(self.get_params() | {"method": "map", "eta": 1.0, "prior": "laplace"}))
        data, prior = model._training_data(X, y, sample_weight), model._prior()
        model._standard_ = model._standard_for(data.matrix, prior.intercept, data.counts)
        model.reference_ = model.classes_[model._position_of_reference()]
        return path_of(model._for_maximum(data, prior), varying_names(model), other_classes(model), eta)

    def plot_path(self, X: Any, y: Any, eta: Any = None, sample_weight: Any = None, *, ax: Any = None) -> Any:
        """Draw `coefficient_path`: every coefficient against eta, refitted for each of its values.

        Parameters
        ----------
        X : array, data frame or sparse matrix (n, d)
        y : sequence (n,)
        eta : sequence of float above 0, optional
        sample_weight : sequence of float (n,), optional
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes

        Raises
        ------
        ThaliError
            As `thali.plots.coefficient_path`.
        """
        return carried_out_by("plot_coefficient_path")(self, X, y, eta, sample_weight, ax=ax)

    def coefficients(self, delta: float = 0.1) -> "pandas.DataFrame":
        r"""Every coefficient with its interval, its sign and the probability that it is not small.

        .. math:: P(|\beta_{kj}| > \delta \mid X, y)

        The posterior has no exact zeros; a coefficient matters where this probability is near 1.

        Parameters
        ----------
        delta : float, 0 or more
            Of standardised covariates: 0.1 multiplies the odds by 1.1 where the covariate rises by a standard
            deviation.

        Returns
        -------
        pandas.DataFrame
            One row a coefficient, the surest first: class, covariate, coef (posterior mean, of the standardised
            covariate), sd, low and high (the 89 % interval), probability (of \|coef\| > delta), positive (the
            probability of coef > 0), excludes_0 (whether the interval does), original (`coef_`, of the covariate as it
            was given).

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `delta` is negative, or the fit made no draws.

        Examples
        --------
        >>> import numpy as np
        >>> import thali as th
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> model = th.SparseMultinomialLogit(random_seed=1).fit(X, X[:, 0] + X[:, 1] > 0.1)
        >>> model.coefficients().query("excludes_0")["covariate"].sort_values().tolist()
        ['x0', 'x1']
        """
        from .coefficients import coefficients

        return coefficients(self._with_draws(), delta)
