"""What a fitted Plackett-Luce regression answers about its weights."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._late import carried_out_by

if TYPE_CHECKING:
    import pandas


class WeightAnswers:
    """Tables and a picture of the relative weights."""

    if TYPE_CHECKING:
        columns_: list[str]
        classes_: np.ndarray
        weights_: Any
        design_: Any

        def _require_fitted(self) -> None: ...
        def _with_draws(self) -> Any: ...

    def _labelled(self, weights: np.ndarray, columns: list[str]) -> Any:
        """Weights with classes and columns where the data had names."""
        if "feature_names_in_" not in vars(self):
            return weights
        import pandas

        return pandas.DataFrame(weights, index=pandas.Index(self.classes_, name="class"), columns=columns)

    def weights_table(self) -> "pandas.DataFrame":
        """Posterior mean and interval of every relative weight, the largest first, after `method="gibbs"`.

        Returns
        -------
        pandas.DataFrame
            class, column, weight, weight_low and weight_high (the 89 % interval). The weights of a draw sum to 1.

        Raises
        ------
        NotFittedError, ArgumentError
            As `summary`.
        """
        from .draws import weights_table

        weights = self._with_draws().posterior_["posterior"].dataset["weights"].values
        return weights_table(weights.reshape(-1, *weights.shape[2:]), self.classes_, self.columns_)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of each covariate in the relative weights, for scikit-learn's `SelectFromModel` and `RFE`.

        The relative weights of all columns of W that a covariate is part of, added up over classes; a column of a sum
        of two covariates counts half for each. The column of ones is left out, and the shares sum to 1.

        Returns
        -------
        array (d,)

        Raises
        ------
        NotFittedError
            Before `fit`.
        AttributeError
            If `transform` is a function, which does not say which covariates a column is made of.
        """
        from .importances import importances

        self._require_fitted()
        return importances(np.asarray(self.weights_), self.design_)

    def plot_path(self, X: Any, y: Any, a: Any = None, *, method: str = "map", ax: Any = None) -> Any:
        """Draw every relative weight against the shape a of the prior, refitted for each a.

        Parameters
        ----------
        X : array or data frame (n, d)
        y : sequence (n,)
        a : sequence of float above 0, optional
        method : {"map", "variational", "gibbs"}
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes

        Raises
        ------
        ThaliError
            As `thali.plots.path`.
        """
        return carried_out_by("plot_path")(self, X, y, a, method=method, ax=ax)
