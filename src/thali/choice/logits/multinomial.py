"""`MultinomialLogit`: everybody has the same tastes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from thali._arguments import one_of
from thali._described import Facts
from thali._labels import shorten
from thali.errors import (
    Argument,
    ArgumentError,
    DataError,
    DataWarning,
    EstimateWarning,
    ModelName,
    ThaliWarning,
)
from thali.model.base import Job, Model
from thali.model.engine import Forecast
from thali.model.wording import listed
from thali.posterior.interval import INTERVAL

from ..answers.chooser import probability_of
from ..answers.logits import LogitAnswers, LogitChooser
from ..coding import Coding, coding_of, experiment, measured_facts, read_cells, refuse_many_levels, unseen_remarks
from .money import (
    MONEY,
    PREFERENCE,
    SPACES,
    covariance_in_utility,
    from_logarithm,
    in_money,
    in_utility,
    price_of_space,
)

if TYPE_CHECKING:
    import pandas as pd

    from thali.data.experiments import ChoiceExperiment
    from thali.data.experiments.scheme import Scheme

    from ..logit import Ascent, Tasks
    from ..nests import Nesting

_STEPS = 7  # of Newton's method, usually
_NESTED_STEPS = 40  # with nests, from both of their starts, each of about three times the work
_DRAWS, _SEED = 2_000, 0  # of the sampling distribution of the estimate
_OPEN = 1e-2  # a dissimilarity below it, or above its inverse, has no bound


class MultinomialLogit(LogitAnswers, Model):
    r"""The multinomial logit, fitted by maximum likelihood: one vector of tastes for everybody.

    .. math:: P(x_j \mid X) = e^{x_j^T \beta} \Big/ \sum_{j' \in X} e^{x_{j'}^T \beta}

    Every level that the tasks show, but the first of an attribute, has a coefficient, the utility that it adds to that
    of the first.

    With `nests` it is the nested logit: the alternatives of a nest m share a part of utility that no attribute
    explains, the more the smaller its dissimilarity is,

    .. math::
        P(x_j \mid X) = \frac{e^{u_j / \lambda_m}}{e^{I_m}} \frac{e^{\lambda_m I_m}}{\sum_l e^{\lambda_l I_l}},
        \qquad u_j = x_j^T \beta, \quad I_m = \ln \sum_{j' \in m} e^{u_{j'} / \lambda_m},

    and an alternative without a nest is one by itself, with λ = 1. With all λ = 1 it is the multinomial logit.

    In willingness-to-pay space the coefficients are amounts of money, and the price p has the scale of utility,

    .. math:: u_j = s \, (x_j^T w - p_j), \qquad s = -\beta_p > 0, \quad w_k = -\beta_k / \beta_p.

    Parameters
    ----------
    linear : attribute or list of attributes
        Those whose number itself has a coefficient instead; predictions then take any number. Columns of more than 30
        different numbers of which some are not whole are taken as numbers anyway, unless the data list their `levels`.
    knots : dict, optional
        Attribute of numbers -> where its slope changes, a list of numbers between tested values, or how many such
        places there are, at quantiles of the tested values. It has a coefficient, its slope, in each piece, and
        predictions take any number.
    interactions : list of pairs of attributes, or dict of lists
        Two attributes whose columns also have coefficients for their products, such as [("price", "brand")] or
        {"price": ["brand"]}.
    constants : bool
        Whether each alternative has a constant of its own, by its label (a means of transport, a place on the screen).
    nests : dict of lists, optional
        Name -> labels of the alternatives of the nest, two or more, such as {"public": ["train", "bus"]}.
    space : {"preference", "willingness-to-pay"}
        What coefficients are: utilities, or amounts in units of the attribute that is called a price, a cost, a fee or
        a fare. That must be taken as a number (`linear`) and has no interaction.

    Attributes
    ----------
    coef_ : pandas.Series (p,)
        NaN where the data cannot tell a coefficient from those before it. In willingness-to-pay space the scale s
        stands in place of the price, as "scale[price]".
    dissimilarity_ : pandas.Series (nests,) or None
        λ of every nest, above 0; None without nests.
    covariance_ : pandas.DataFrame (p, p), (p + nests, p + nests)
        Inverse of the negative Hessian; the dissimilarities come last.
    log_likelihood_ : float
        Of all choices, natural logarithm.
    plain_log_likelihood_ : float or None
        With nests, that of the logit without them.
    aic_, bic_ : float
        BIC counts tasks.
    n_tasks_ : int
    converged_ : bool
        Whether Newton's method settled on a maximum.
    unbounded_ : tuple of str
        Coefficients, and dissimilarities of nests, along which the likelihood rises without end.

    Raises
    ------
    DataError
        If the data are no choice experiment, no attribute differs within a task, one that is not taken as a number has
        more than 30 levels, which the data do not list, or no task shows how alike the alternatives of a nest are; in
        willingness-to-pay space also if demand does not fall with the price.
    ArgumentError
        If an argument names no attribute, or takes one as a number whose levels are none; if a nest has one
        alternative, or one that does not exist or is in another nest; if alternatives have no labels; in
        willingness-to-pay space if there is no price, or it is no straight line.

    Warns
    -----
    EstimateWarning
        If the likelihood rises without end, or a dissimilarity is above 1.
    DataWarning
        If some coefficients cannot be told from others, or a declared level is never shown.

    References
    ----------
    McFadden (1974), Conditional logit analysis of qualitative choice behavior; McFadden (1978), Modelling the choice of
    residential location; Train (2009), Discrete choice methods with simulation, section 4.2, of nests; Train & Weeks
    (2005), Discrete choice models in preference space and willingness-to-pay space.

    Examples
    --------
    >>> import pandas as pd
    >>> import thali as th
    >>> rows = {"id": [1] * 8, "task": [1, 1, 2, 2, 3, 3, 4, 4], "choice": [1, 0] * 3 + [0, 1], "price": [90, 150] * 4}
    >>> model = MultinomialLogit().fit(th.ChoiceExperiment.from_frame(pd.DataFrame(rows)))
    >>> model.coef_.round(4).to_dict()
    {'price[150]': -1.0986}
    >>> model.predict_proba(pd.DataFrame({"price": [150, 90]})).round(4).tolist()
    [0.25, 0.75]
    """

    _FINDINGS: ClassVar[str] = "thali.choice.logits.findings"
    coef_: "pd.Series"
    covariance_: "pd.DataFrame"
    dissimilarity_: "pd.Series | None" = None  # files of models without nests hold none
    log_likelihood_: float
    plain_log_likelihood_: float | None = None
    aic_: float
    bic_: float
    n_tasks_: int
    converged_: bool
    unbounded_: tuple[str, ...]
    scheme_: "Scheme"
    _coding_: "Coding"
    _data_: "ChoiceExperiment"
    _nesting_: "Nesting | None" = None
    _price_: int | None = None  # the place of the scale in willingness-to-pay space

    def __init__(
        self,
        linear: Any = (),
        knots: Any = None,
        interactions: Any = (),
        constants: bool = False,
        nests: Any = None,
        space: str = PREFERENCE,
    ) -> None:
        self.linear = linear
        self.knots = knots
        self.interactions = interactions
        self.constants = constants
        self.nests = nests
        self.space = space

    def fit(self, data: "ChoiceExperiment", random_seed: Any = None, progressbar: bool = True) -> "MultinomialLogit":
        """Fit to a choice experiment.

        Parameters
        ----------
        data : ChoiceExperiment
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Not used, as nothing is random.
        progressbar : bool
            Not used, as nothing takes long.

        Returns
        -------
        MultinomialLogit
        """
        return self._carry_out(self._checked(data))

    def _checked(self, data: Any) -> Job:
        from ..nests import labelled

        return self._job(labelled(experiment(data, self.constants), self.constants, self.nests))

    def _job(self, data: "ChoiceExperiment") -> Job:
        """The fit, checked."""
        import pandas as pd

        from ..logit import A_CELL, ascend, independent_columns, separating_columns, tasks_of
        from ..nests import nesting_of

        coding = coding_of(data, self.linear, self.knots, self.interactions, self.constants)
        nesting = None if self.nests is None else nesting_of(self.nests, data)
        if nesting is not None and coding.parts[nesting.place].numbers is not None:
            raise ArgumentError(
                Argument("nests"),
                f" need the labels of alternatives, {data.scheme.alternative!r}, as levels; leave it out of ",
                Argument("linear"),
                " and ",
                Argument("knots"),
                ".",
            )
        price = price_of_space(data, coding) if one_of("space", self.space, SPACES) == MONEY else None
        refuse_many_levels(data, coding.linear)
        tasks = tasks_of(data, coding)
        kept = independent_columns(tasks)
        if not kept.any():
            raise DataError("No attribute differs within a task, so that the choices say nothing about tastes.")
        tasks = tasks._replace(matrix=tasks.matrix[:, kept])
        scale = np.abs(tasks.matrix).max(axis=0)
        scaled = tasks._replace(matrix=tasks.matrix / scale)

        def work() -> dict[str, Any]:
            found = ascend(scaled)
            names = pd.Index(coding.names, name="coefficient")
            separating = separating_columns(scaled, found.beta)
            end = _without_nests(found) if nesting is None else _with_nests(scaled, found, nesting, data)
            every = [*names, *(f"dissimilarity[{name}]" for name in end.nests)]
            known = np.concatenate([kept, np.ones(len(end.nests), bool)])
            units = np.concatenate([scale, np.ones(len(end.nests))])
            beta = np.full(len(names), np.nan)
            beta[kept] = end.beta / scale
            covariance = np.full((len(every), len(every)), np.nan)
            covariance[np.ix_(known, known)] = end.covariance / np.outer(units, units)
            free = int(known.sum())
            if price is not None:
                beta, covariance = in_money(beta, covariance, every.index(price), price)
                every[every.index(price)] = f"scale[{price}]"
            index = pd.Index(every, name="coefficient")
            is_open = (end.dissimilarity < _OPEN) | (end.dissimilarity > 1.0 / _OPEN)
            return {
                "coef_": pd.Series(beta, index[: len(names)], name="coef"),
                "covariance_": pd.DataFrame(covariance, index, index),
                "dissimilarity_": None
                if nesting is None
                else pd.Series(end.dissimilarity, pd.Index(end.nests, name="nest"), name="dissimilarity"),
                "log_likelihood_": end.log_likelihood,
                "plain_log_likelihood_": None if nesting is None else found.log_likelihood,
                "n_tasks_": data.n_tasks,
                "aic_": 2.0 * free - 2.0 * end.log_likelihood,
                "bic_": float(np.log(data.n_tasks)) * free - 2.0 * end.log_likelihood,
                "converged_": end.converged,
                "unbounded_": (*index[: len(names)][kept][separating], *index[len(names) :][is_open]),
                "scheme_": data.scheme,
                "_coding_": coding,
                "_data_": data,
                "_nesting_": nesting,
                "_price_": None if price is None else coding.names.index(price),
            }

        seconds = (_STEPS if nesting is None else _NESTED_STEPS * 3) * A_CELL * scaled.matrix.size
        return Job(work, unseen_remarks(coding, data.levels), data=str(data), forecast=Forecast(seconds, seconds))

    def _outcome(self, job: Job) -> Iterator[ThaliWarning]:
        if len(aliased := list(self.coef_.index[self.coef_.isna().to_numpy()])):
            yield DataWarning(
                f"The data cannot tell {shorten(list(map(str, aliased)))} from other coefficients, and predictions "
                "take 0 for it. Leave out an attribute that the others determine."
            )
        if self.unbounded_:
            yield EstimateWarning(
                f"The likelihood rises without end along {shorten(list(map(str, self.unbounded_)))}: no choice speaks "
                "against an infinite preference there. Predictions are usable, estimates and standard errors are not; ",
                ModelName("HierarchicalLogit"),
                " has a prior and finite estimates.",
            )
        elif not self.converged_:
            yield EstimateWarning(
                "Newton's method has not settled on a maximum of the likelihood; look at attributes that nearly "
                "determine each other."
            )

        above = [f"{name!r} ({value:.3g})" for name, value in self._nests().items() if value > 1.0]
        if above:
            named = listed(above)
            yield EstimateWarning(
                f"The dissimilarity of {named} is above 1: alternatives of the nest take less from each other than "
                "from the rest, which agrees with people who choose what they like best for some products at most; try "
                "other nests.",
            )

    def _answers(self) -> Facts:
        found = ("log-likelihood", f"{self.log_likelihood_:,.2f} (all choices)"), ("AIC", f"{self.aic_:,.2f}")
        if nests := self._nests():
            values = ", ".join(f"{name} {value:.3g}" for name, value in nests.items())
            found = *found, ("dissimilarity", f"{values} (1: no nest)")
        return *found, *measured_facts(self._coding_, self.scheme_)

    def summary(self) -> "pd.DataFrame":
        """Coefficients with their standard errors.

        Returns
        -------
        pandas.DataFrame
            coef, se, z (their ratio) and p (two-sided, normal), a row a coefficient; then a row for the dissimilarity
            of each nest, whose z and p are of its distance from 1, which is no nest.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from scipy.special import ndtr

        from thali._tables import Table

        self._require_fitted()
        with np.errstate(invalid="ignore"):
            errors = np.sqrt(np.diag(self.covariance_))
        values = np.append(self.coef_, self._dissimilarity())
        z = (values - np.repeat([0.0, 1.0], [len(self.coef_), len(values) - len(self.coef_)])) / errors
        figures = {"coef": values, "se": errors, "z": z, "p": 2.0 * ndtr(-np.abs(z))}
        return Table(figures, index=self.covariance_.index)

    def nest_table(self, ci: float = INTERVAL) -> "pd.DataFrame":
        r"""The nests: how alike their alternatives are, beyond what their attributes say.

        .. math:: \operatorname{corr}(\varepsilon_j, \varepsilon_{j'}) = 1 - \lambda_m^2, \qquad j, j' \in m

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            A row a nest: its `alternatives`; `dissimilarity`, its interval `low` to `high` (normal for its logarithm)
            and standard error `se`; `correlation` of the unexplained parts of utility of two of its alternatives, NaN
            where the dissimilarity is above 1. ``attrs`` has the likelihood-ratio test of all nests together against
            the plain logit: `statistic`, `df` and `p`, and `interval`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model has no nests.

        References
        ----------
        Train (2009), Discrete choice methods with simulation, section 4.2; Johnson & Kotz (1972), Distributions in
        statistics: continuous multivariate distributions, of the correlation.
        """
        from scipy.special import gammaincc, ndtri

        from thali._tables import Table

        self._require_fitted()
        if self._nesting_ is None or self.dissimilarity_ is None or self.plain_log_likelihood_ is None:
            raise ArgumentError("The model has no nests; name alternatives of a nest by ", Argument("nests"), ".")
        value = self.dissimilarity_.to_numpy()
        error = np.sqrt(np.diag(self.covariance_))[len(self.coef_) :]
        factor = np.exp(ndtri((1.0 + probability_of(ci)) / 2.0) * error / value)
        table = Table(
            {
                "alternatives": [", ".join(members) for members in self._nesting_.members],
                "dissimilarity": value,
                "low": value / factor,
                "high": value * factor,
                "se": error,
                "correlation": np.where(value <= 1.0, 1.0 - value**2, np.nan),
            },
            index=self.dissimilarity_.index,
        )
        statistic = max(2.0 * (self.log_likelihood_ - self.plain_log_likelihood_), 0.0)
        p = float(gammaincc(len(value) / 2.0, statistic / 2.0))  # of a chi-squared variable
        table.attrs.update(interval=ci, statistic=statistic, df=len(value), p=p)
        return table

    def _tastes(self) -> np.ndarray:
        """The coefficients of utility, 0 for those that the data cannot tell."""
        coef = np.nan_to_num(self.coef_.to_numpy())
        return coef if self._price_ is None else in_utility(coef, self._price_)

    def _nests(self) -> dict[str, float]:
        """The dissimilarity of each nest."""
        names = () if self._nesting_ is None else self._nesting_.names
        return dict(zip(names, self._dissimilarity().tolist(), strict=True))

    def _dissimilarity(self) -> np.ndarray:
        """Those of the nests; empty where there are none."""
        return np.empty(0) if self.dissimilarity_ is None else self.dissimilarity_.to_numpy()

    def predict_proba(self, new: "pd.DataFrame | ChoiceExperiment", ci: float | None = None) -> Any:
        """Probability that each alternative of new tasks is chosen.

        Parameters
        ----------
        new : DataFrame or ChoiceExperiment
            As for `ChoiceExperiment.encode`; attributes in `linear` may have any number.
        ci : float in (0, 1), optional
            The probability of an interval of each probability, over the sampling distribution of the estimate; None:
            none.

        Returns
        -------
        array (rows,)
            In the order of the rows; they sum to 1 within a task. With `ci` three arrays: the others hold the lower and
            the upper ends of the intervals.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            As `ChoiceExperiment.encode`, or if the tasks of the fit never show a level.
        ArgumentError
            If `ci` is no probability.
        """
        from ..answers.chooser import with_ends
        from ..logit import probabilities
        from ..nests import nested_rows

        self._require_fitted()
        cells, encoded = read_cells(self._coding_, self.scheme_, new)
        rows, p = self._coding_.rows(cells), len(self.coef_)

        def of(tastes: np.ndarray, dissimilarity: np.ndarray) -> np.ndarray:
            utility = rows @ tastes
            if self._nesting_ is not None:
                utility = nested_rows(utility, encoded.task_of_row, self._nesting_.of(cells), dissimilarity)
            return probabilities(utility, encoded.task_of_row)

        def drawn() -> np.ndarray:
            return np.stack([of(each[:p], np.exp(each[p:])) for each in self._chooser().tastes[1:, 0]])

        return with_ends(of(self._tastes(), self._dissimilarity()), drawn, ci)

    def _data_of_fit(self) -> "ChoiceExperiment":
        return self._data_

    def _chooser(self) -> "LogitChooser":
        self._require_fitted()
        # Draws and the delta method move the logarithms of dissimilarities, which are above 0.
        dissimilarity = self._dissimilarity()
        coef = np.append(np.nan_to_num(self.coef_.to_numpy()), np.log(dissimilarity))
        units = np.append(np.ones(len(self.coef_)), dissimilarity)
        if self._price_ is not None:  # as that of the scale, so that the price has a log-normal coefficient
            units[self._price_] = coef[self._price_]
            coef[self._price_] = np.log(coef[self._price_])
        covariance = np.nan_to_num(self.covariance_.to_numpy()) / np.outer(units, units)
        noise = np.random.default_rng(_SEED).standard_normal((_DRAWS, len(coef)))
        values, vectors = np.linalg.eigh(covariance)
        tastes = coef + noise @ (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T  # whichever vectors these are
        if self._price_ is not None:
            coef, tastes = (from_logarithm(each, self._price_, len(self.coef_)) for each in (coef, tastes))
            covariance = covariance_in_utility(covariance, coef, self._price_, len(self.coef_))
        people = np.ones((len(self._data_.respondents), 1))
        return LogitChooser(
            self._coding_,
            self._data_,
            np.vstack([coef, tastes])[:, None],
            np.zeros(_DRAWS + 1, np.int64),
            people,
            covariance=covariance,
            nesting=self._nesting_,
        )


class _End(NamedTuple):
    """Where a fit ends, in the scaled columns that the data tell of."""

    beta: np.ndarray  # (p,)
    nests: tuple[str, ...]
    dissimilarity: np.ndarray  # (nests,)
    covariance: np.ndarray  # (p + nests, p + nests)
    log_likelihood: float
    converged: bool


def _without_nests(found: "Ascent") -> _End:
    """The end of the plain logit."""
    covariance = np.linalg.pinv(found.hessian, hermitian=True)
    return _End(found.beta, (), np.empty(0), covariance, found.log_likelihood, found.converged)


def _with_nests(tasks: "Tasks", found: "Ascent", nesting: "Nesting", data: "ChoiceExperiment") -> _End:
    """The end of the nested logit, climbed from the plain one."""
    from ..nests import by_nests, climb

    nest_of_row = np.array(nesting.of_label)[data.products[data.row_product, nesting.place]]
    top, converged = climb(by_nests(tasks, nest_of_row, len(nesting.names)), found.beta)
    dissimilarity = np.exp(top.log_dissimilarity)
    units = np.append(np.ones(len(top.beta)), dissimilarity)
    covariance = np.linalg.pinv(top.information, hermitian=True) * np.outer(units, units)
    return _End(top.beta, nesting.names, dissimilarity, covariance, top.value, converged)
