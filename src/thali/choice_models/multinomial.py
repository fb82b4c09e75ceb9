"""`MultinomialLogit`: everybody has the same tastes."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._quiet import is_quiet
from thali.data.check import shorten
from thali.errors import ArgumentError, DataError, DataWarning, EstimateWarning, NotFittedError
from thali.models.prior_sample import SampledFromData

if TYPE_CHECKING:
    import pandas as pd

    from thali.choice_models.coding import Coding
    from thali.data.experiment import ChoiceExperiment


class MultinomialLogit(SampledFromData):
    r"""The multinomial logit, fitted by maximum likelihood: one vector of tastes for everybody.

    .. math:: P(x_j \mid X) = e^{x_j^T \beta} \Big/ \sum_{j' \in X} e^{x_{j'}^T \beta}

    Every level that the tasks show, but the first of an attribute, has a coefficient, the utility that it adds to that
    of the first.

    Parameters
    ----------
    linear : attribute or list of attributes
        Those whose number itself has a coefficient instead; predictions then take any number.

    Attributes
    ----------
    coef_ : pandas.Series (p,)
        NaN where the data cannot tell a coefficient from those before it.
    covariance_ : pandas.DataFrame (p, p)
        Inverse of the negative Hessian.
    log_likelihood_ : float
        Of all choices, natural logarithm.
    aic_, bic_ : float
        BIC counts tasks.
    n_tasks_ : int

    Raises
    ------
    DataError
        If the data are no choice experiment, or no attribute differs within a task.
    ArgumentError
        If `linear` names no attribute, or one whose levels are no numbers.

    Warns
    -----
    EstimateWarning
        If the likelihood rises without end.
    DataWarning
        If some coefficients cannot be told from others, or a declared level is never shown.

    References
    ----------
    McFadden (1974), Conditional logit analysis of qualitative choice behavior.

    Example
    -------
    >>> import pandas as pd
    >>> import thali as th
    >>> rows = {"id": [1] * 8, "task": [1, 1, 2, 2, 3, 3, 4, 4], "choice": [1, 0] * 3 + [0, 1], "price": [90, 150] * 4}
    >>> model = MultinomialLogit().fit(th.ChoiceExperiment.from_frame(pd.DataFrame(rows)))
    >>> model.coef_.round(4).to_dict()
    {'price[150]': -1.0986}
    >>> model.predict_proba(pd.DataFrame({"price": [150, 90]})).round(4).tolist()
    [0.25, 0.75]
    """

    coef_: "pd.Series"
    covariance_: "pd.DataFrame"
    log_likelihood_: float
    aic_: float
    bic_: float
    n_tasks_: int

    def __init__(self, linear: Any = ()):
        self.linear = linear

    def fit(self, data: "ChoiceExperiment", random_seed=None) -> "MultinomialLogit":
        """Fit to a choice experiment; nothing is random, so that `random_seed` is not used.

        Parameters
        ----------
        data : ChoiceExperiment
        random_seed : optional

        Returns
        -------
        MultinomialLogit
        """
        import pandas as pd

        from thali.choice_models.coding import coding_of
        from thali.choice_models.logit import climb, independent_columns, tasks_of

        experiment(data)
        coding = coding_of(data, self.linear)
        tasks = tasks_of(data, coding)
        kept = independent_columns(tasks)
        if not kept.any():
            raise DataError("No attribute differs within a task, so that the choices say nothing about tastes.")
        tasks = tasks._replace(matrix=tasks.matrix[:, kept])
        scale = np.abs(tasks.matrix).max(axis=0)
        scaled = tasks._replace(matrix=tasks.matrix / scale)
        found = climb(scaled)
        self._warn(scaled, found, np.array(coding.names)[kept], np.array(coding.names)[~kept])
        warn_of_unseen(coding, data.levels)
        names = pd.Index(coding.names, name="coefficient")
        beta = np.full(len(names), np.nan)
        beta[kept] = found.beta / scale
        covariance = np.full((len(names), len(names)), np.nan)
        covariance[np.ix_(kept, kept)] = np.linalg.pinv(found.hessian, hermitian=True) / np.outer(scale, scale)
        self.coef_ = pd.Series(beta, names, name="coef")
        self.covariance_ = pd.DataFrame(covariance, names, names)
        self.log_likelihood_, self.n_tasks_ = found.log_likelihood, data.n_tasks
        free = int(kept.sum())
        self.aic_ = 2.0 * free - 2.0 * found.log_likelihood
        self.bic_ = float(np.log(data.n_tasks)) * free - 2.0 * found.log_likelihood
        self.scheme_, self._coding = data.scheme, coding
        return self

    def _warn(self, tasks, found, names: np.ndarray, aliased: np.ndarray) -> None:
        from thali.choice_models.separation import separating_columns

        if is_quiet():
            return
        if len(aliased):
            warnings.warn(
                f"The data cannot tell {shorten(list(map(str, aliased)))} from other coefficients, and predictions "
                "take 0 for it. Leave out an attribute that the others determine.",
                DataWarning,
                stacklevel=3,
            )
        apart = separating_columns(tasks, found.beta)
        if len(apart):
            warnings.warn(
                f"The likelihood rises without end along {shorten(list(map(str, names[apart])))}: no choice speaks "
                "against an infinite preference there. Predictions are usable, estimates and standard errors are not; "
                "HierarchicalLogit has a prior and finite estimates.",
                EstimateWarning,
                stacklevel=3,
            )
        elif not found.converged:
            warnings.warn(
                "Newton's method has not settled on a maximum of the likelihood; look at attributes that nearly "
                "determine each other.",
                EstimateWarning,
                stacklevel=3,
            )

    def _prior_sample(self, rngs, data):
        raise ArgumentError(
            "MultinomialLogit is fitted by maximum likelihood and has no prior to draw from; take HierarchicalLogit."
        )

    def summary(self) -> "pd.DataFrame":
        """Coefficients with their standard errors.

        Returns
        -------
        pandas.DataFrame
            coef, se, z (their ratio) and p (two-sided, normal), a row a coefficient.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        import pandas as pd
        from scipy.special import ndtr

        self._require_fitted()
        with np.errstate(invalid="ignore"):
            errors = np.sqrt(np.diag(self.covariance_))
        z = self.coef_ / errors
        return pd.DataFrame({"coef": self.coef_, "se": errors, "z": z, "p": 2.0 * ndtr(-z.abs())})

    def predict_proba(self, new: "pd.DataFrame | ChoiceExperiment") -> np.ndarray:
        """Probability that each alternative of new tasks is chosen.

        Parameters
        ----------
        new : DataFrame or ChoiceExperiment
            As for `ChoiceExperiment.encode`; attributes in `linear` may have any number.

        Returns
        -------
        array (rows,)
            In the order of the rows; they sum to 1 within a task.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            As `ChoiceExperiment.encode`, or if the tasks of the fit never show a level.
        """
        from thali.choice_models.coding import read_new
        from thali.choice_models.logit import probabilities

        self._require_fitted()
        matrix, encoded = read_new(self._coding, self.scheme_, new)
        return probabilities(matrix @ np.nan_to_num(self.coef_.to_numpy()), encoded.task_of_row)

    def _require_fitted(self) -> None:
        if not hasattr(self, "coef_"):
            raise NotFittedError("This MultinomialLogit is not fitted yet; call fit(data) first.")


def warn_of_unseen(coding: "Coding", levels: dict[str, tuple[str, ...]]) -> None:
    """Say which declared levels no task shows."""
    from thali.choice_models.coding import unseen_levels

    if not is_quiet() and (unseen := unseen_levels(coding, levels)):
        named = [f"{name} = {level}" for name, own in unseen.items() for level in own]
        warnings.warn(
            f"No task shows {shorten(named)}, so that there is no coefficient for it, and predictions refuse it. Of an "
            "attribute named in linear= they take any number.",
            DataWarning,
            stacklevel=3,
        )


def experiment(data: Any) -> "ChoiceExperiment":
    """The data, if they are a choice experiment."""
    from thali.data.experiment import ChoiceExperiment

    if not isinstance(data, ChoiceExperiment):
        raise DataError(
            f"The model needs a ChoiceExperiment; got {type(data).__name__}. Make one by "
            "ChoiceExperiment.from_frame(frame)."
        )
    return data
