"""Elimination by aspects with known aspects, fitted by maximum likelihood."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from thali._described import Facts
from thali._labels import plural
from thali.errors import ArgumentError, InPython, ThaliWarning
from thali.posterior.interval import INTERVAL

from ..base import Job
from ..counted_ties import CONVERSIONS, counted, has_ties, with_covariates
from ..latent_features.base import data_of_thali
from ..latent_features.likelihoods.best_worst import RANKING
from ..prepared import Prepared
from .fit import checked_aspects, estimate, vanishing
from .predictions import EstimatedChoices

if TYPE_CHECKING:
    import pandas

    from .estimates import Estimates
    from .goodness import FitTest


class MaximumLikelihoodElimination(EstimatedChoices):
    r"""Weights of known aspects by maximum likelihood: `EliminationByAspects(..., method="maximum-likelihood")`.

    .. math::
        \tilde p_{ij} = (1 - \varepsilon) \frac{A_{ij}}{A_{ij} + A_{ji}} + \frac{\varepsilon}{2}, \qquad
        A_{ij} = u_i + \sum_k w_k f_{ik} (1 - f_{jk})

    Parameters
    ----------
    aspects : "unique", matrix or mapping
        "unique" ("BTL", "Bradley-Terry", "Luce"): none but the unique ones, the Bradley-Terry-Luce model. A matrix of 0
        and 1 (options by aspects) or a mapping from each label to its list of aspects.
    unique : bool
        Whether every option also has one aspect of its own.
    lapse : float in [0, 1), optional
        Probability epsilon of choosing at random; None: 0.
    ties : {None, "davidson", "half", "drop"}
        What is made of pairs of which neither option was chosen. "davidson": a third outcome, with the probability
        r / (1 + r), where r is nu times the square root of p̃ (1 - p̃); "half": half a choice of either; "drop":
        nothing. None: "davidson" if there are ties.
    best_worst : {"ranking", "reversed"}
        By which rule best and worst of a set are chosen, as in `EliminationByAspects`.
    covariates : list of str, optional
        Which covariates of the comparisons count, as in `EliminationByAspects`. Those of options take the place of own
        worths: the worth of an option is exp(x'b).

    Attributes
    ----------
    weights_, standard_errors_, utility_scale_, utility_covariance_ : pandas.Series, the last a DataFrame
        The weights (they sum to 1; unique aspects first) and their standard errors; the utility of each option, the sum
        of the weights of its aspects (normalised), with its covariance. Where the data say who answered, and people are
        five more than free weights, errors and tests are over people, whose answers need not be independent of each
        other (Liang & Zeger 1986, Rao & Scott 1984).
    log_likelihood_, deviance_, df_, p_value_, pearson_, aic_, bic_ : float
        Multinomial coefficients included; the deviance G² is against the saturated model.
    lapse_ : float
        The lapse that was used.
    tie_, tie_std_error_ : float or None
        The parameter nu of ties and its standard error; None if a tie is no outcome.

    References
    ----------
    Tversky (1972); Wickelmaier & Schmid (2004), A Matlab function to estimate choice model parameters from
    paired-comparison data. Liang & Zeger (1986), Longitudinal data analysis using generalized linear models; Rao &
    Scott (1984), On chi-squared tests for multiway contingency tables. Davidson (1970) for ties; Plackett (1975), The
    analysis of permutations, for rankings.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects(aspects="unique", method="maximum-likelihood")
    >>> model.fit(th.datasets.celebrities()).weights_.head(3).round(4).to_dict()
    {'LBJ': 0.2287, 'HW': 0.1403, 'CDG': 0.1099}
    """

    estimates_: "Estimates"
    _FINDINGS: ClassVar[str] = "thali.model.elimination_ml.findings"
    method: ClassVar[str] = "maximum-likelihood"

    def __init__(
        self,
        aspects: Any = "unique",
        unique: bool = True,
        lapse: float | None = None,
        ties: str | None = None,
        best_worst: str = RANKING,
        covariates: Any = None,
    ) -> None:
        self.aspects = aspects
        self.unique = unique
        self.lapse = lapse
        self.ties = ties
        self.best_worst = best_worst
        self.covariates = covariates

    def __repr__(self) -> str:
        """The call that makes it, that of `EliminationByAspects`, whose default aspects are others."""
        given, usual = self.get_params(), self._signature()
        names = [name for name in given if name == "aspects" or repr(given[name]) != repr(usual[name].default)]
        shown = {name: given[name] for name in names} | {"method": "maximum-likelihood"}
        return f"EliminationByAspects({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def fit(self, data: Any, random_seed: Any = None, progressbar: bool = True) -> Any:
        """Find the maximum of the likelihood.

        Parameters
        ----------
        data : PairedComparisons or Choices
            Choices out of more than two options, of which rankings are made, for unique aspects alone.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the starting points; None: 0.
        progressbar : bool
            As every `fit` takes it; nothing takes long here.

        Returns
        -------
        self

        Raises
        ------
        ArgumentError
            If the aspects are not known beforehand, or their weights could not be told apart by any choices.
        DataError
            If the data are of another kind, or do not tell the weights apart.

        Warns
        -----
        EstimateWarning
            If the likelihood rises for ever while some weights shrink.
        """
        seed = 0 if random_seed is None else random_seed
        data = self._counted(data_of_thali(data, "PairedComparisons"))
        settings = self.aspects, self.unique, self._lapse(), has_ties(data), self.best_worst
        work = partial(estimate, data, *settings, random_seed=seed)
        return self._carry_out(Job(lambda: {"estimates_": work()}, data=str(data)))

    def prepare(self, data: Any, **settings: Any) -> Prepared:
        """What `fit` would run, after the checks of the aspects that it makes."""
        from ..latent_features.likelihoods.elimination import as_pairs

        choices: Any = as_pairs(self._counted(data), self.best_worst)
        checked_aspects(choices, self.aspects, self.unique, self._lapse(), has_ties(choices), self.best_worst)
        return Prepared(self._lapse())

    def _counted(self, data: Any) -> Any:
        """The data as the arguments `ties` and `covariates` take them."""
        return with_covariates(counted(data, self.ties, ("davidson", *CONVERSIONS)), self.covariates)

    def _lapse(self) -> float:
        """The lapse that `fit` uses."""
        return 0.0 if self.lapse is None else self.lapse

    def _outcome(self, job: Job) -> Iterator[ThaliWarning]:
        yield from vanishing(self.estimates_)

    def _maximum(self) -> "Estimates":
        self._require_fitted()
        return self.estimates_

    @property
    def lapse_(self) -> float:
        """The probability of choosing at random that the fit used."""
        return self._maximum().lapse

    @property
    def weights_(self) -> "pandas.Series":
        """The weight of each aspect; they sum to 1. The unique aspects come first, with the labels of the options."""
        import pandas as pd

        found = self._maximum()
        return pd.Series(found.weights, pd.Index(found.known.names, name="aspect"), name="weight")

    @property
    def standard_errors_(self) -> "pandas.Series":
        """Standard errors of `weights_`, over people or by the observed information; NaN for a weight that is zero."""
        import pandas as pd

        found = self._maximum()
        return pd.Series(found.standard_errors, pd.Index(found.known.names, name="aspect"), name="std_error")

    @property
    def utility_scale_(self) -> "pandas.Series":
        """The sum of the weights of each option's aspects, divided by its sum over options."""
        import pandas as pd

        found = self._maximum()
        return pd.Series(found.utility, pd.Index(found.known.labels, name="option"), name="utility")

    @property
    def utility_covariance_(self) -> "pandas.DataFrame":
        """Covariance of `utility_scale_`, by the delta method; weights that are zero count as known."""
        import pandas as pd

        found = self._maximum()
        labels = pd.Index(found.known.labels, name="option")
        return pd.DataFrame(found.utility_covariance, labels, labels)

    @property
    def tie_(self) -> float | None:
        """The parameter nu of ties; None if a tie is no outcome."""
        return self._maximum().tie

    @property
    def tie_std_error_(self) -> float | None:
        """Standard error of `tie_`."""
        return self._maximum().tie_std_error

    @property
    def log_likelihood_(self) -> float:
        """Of all the data, multinomial coefficients included."""
        return self._maximum().log_likelihood

    @property
    def saturated_log_likelihood_(self) -> float:
        """Of the model in which every compared pair, or set, has probabilities of its own."""
        return self._maximum().saturated

    @property
    def deviance_(self) -> float:
        """G², twice the log-likelihood ratio of the saturated model, with `df_` degrees of freedom."""
        return self._maximum().deviance

    @property
    def df_(self) -> int:
        """Compared pairs (with ties twice as many; of sets their members less one) less free parameters."""
        return self._maximum().df

    @property
    def p_value_(self) -> float:
        """Of the deviance, as `fit_test` finds it; NaN where that test says nothing."""
        return self._maximum().p_value

    def fit_test(self, samples: int | None = None, random_seed: Any = 0) -> "FitTest":
        r"""Test the fit against a probability of its own for every pair.

        G² has about a chi-square distribution if pairs were compared often enough, that is if

        .. math:: \sum_i \frac{1 / p_i + 1 / (1 - p_i) - 1}{6 n_i} \le 0.1 \sqrt{2 \,\mathrm{df}}.

        Elsewhere its p-value is that of a parametric bootstrap: choices are drawn from the fitted model and fitted.
        The test says nothing (p_value NaN) where pairs were compared fewer than 4 times on average, where counts are
        fractional, and where there are as many weights as pairs.

        Parameters
        ----------
        samples : int, optional
            Of the bootstrap. None: chi-square where that holds, else 999, or 199 where fits are slow, which takes
            seconds; above some 80 options, all compared, the bootstrap runs only when asked for.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the bootstrap.

        Returns
        -------
        FitTest
            statistic (G²), df, p_value, samples (0: chi-square), kind ("chi-square", "bootstrap" or "none") and why;
            `print` shows a sentence.

        Raises
        ------
        NotFittedError
            Before `fit`.

        References
        ----------
        Williams (1976), Improved likelihood ratio tests for complete contingency tables; Davison & Hinkley (1997),
        Bootstrap methods and their application, section 4.4.

        Examples
        --------
        >>> import thali as th
        >>> taste = th.PairedComparisons([[0, 3, 2, 2], [12, 0, 11, 3], [13, 4, 0, 5], [13, 12, 10, 0]])
        >>> th.EliminationByAspects("unique", method="maximum-likelihood").fit(taste).fit_test(samples=99).kind
        'bootstrap'
        """
        return self._maximum().fit_test(samples, random_seed)

    @property
    def pearson_(self) -> float:
        """Pearson's X²."""
        return self._maximum().pearson

    @property
    def aic_(self) -> float:
        return self._maximum().aic

    @property
    def bic_(self) -> float:
        """With the number of compared pairs, or of sets, for n."""
        return self._maximum().bic

    def residuals(self, kind: str = "deviance") -> "pandas.DataFrame":
        """How far each compared pair lies from what the fit says of it.

        Parameters
        ----------
        kind : {"deviance", "pearson"}
            Their squares sum to `deviance_` or `pearson_`.

        Returns
        -------
        pandas.DataFrame
            One row a compared pair: a, b, n, observed, predicted, residual. With ties one row an outcome of a pair
            (column outcome: a, tie or b); out of sets one row a member of a set (alternative, offered), of best-worst
            choices one an ordered pair of members (best, worst, offered).

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from thali._arguments import one_of

        from .residual_table import residual_table

        one_of("kind", kind, ("deviance", "pearson"))
        return residual_table(self._maximum(), kind)

    def _data_of_fit(self) -> Any:
        return self.estimates_.data

    def _answers(self) -> Facts:
        tie = self.tie_
        df = self._maximum().error_df
        return (
            *(() if df is None else (("standard errors", f"over {df + 1:,} people"),)),
            ("log-likelihood", f"{self.log_likelihood_:,.2f} (all comparisons, with {self._maximum().coefficients})"),
            *(() if tie is None else (("ties", f"nu {tie:.4g} (standard error {self.tie_std_error_:.2g})"),)),
            ("deviance", f"G² {self.deviance_:,.2f} on {plural(self.df_, 'degree')} of freedom"),
        )

    def leave_one_out(self) -> "pandas.DataFrame":
        """Predict every compared pair from a fit to the others.

        Returns
        -------
        pandas.DataFrame
            One row a pair: a, b, n, observed, predicted (probability that a is chosen, with ties if one of the two is)
            and nll, the negative logarithm of the probability of the pair's outcomes; ``attrs["nll"]`` is its mean.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the other pairs do not tell the weights, or the data are choices out of larger sets.
        """
        from .predict_left_out import leave_one_out

        return leave_one_out(self._maximum())

    def summary(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """The weights and their tests.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row an aspect: weight, std_error, z and p_value (Wald test that the weight is zero; missing for unique
            aspects, whose weights are above zero wherever an option was ever chosen), lower and upper (the interval);
            where errors are over people (by Student's t), std_error_independent is what they would be if all choices
            were independent.
            ``attrs`` holds interval (`ci`), lapse, log_likelihood, deviance, df, p_value, pearson, aic and bic, with
            ties also tie and tie_std_error.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        found = self._maximum()
        table = found.table(ci)
        for name in ("lapse", "log_likelihood", "deviance", "df", "p_value", "pearson", "aic", "bic"):
            table.attrs[name] = getattr(found, name)
        if found.tie is not None:
            table.attrs |= {"tie": found.tie, "tie_std_error": found.tie_std_error}
        return table


def estimates_of_choices(model: Any, what: str) -> "Estimates":
    """The same of a model of one of two options chosen, without ties."""
    found = estimates_of(model, what)
    if not found.is_of_choices:
        kind = "choices out of larger sets" if found.tie is None else "ties"
        raise ArgumentError(
            InPython(what, "This"), f" is for choices between two options; the model was fitted to {kind}."
        )
    return found


def estimates_of(model: Any, what: str) -> "Estimates":
    """The estimates of a model fitted by maximum likelihood; an ArgumentError names what needs them otherwise."""
    if not isinstance(model, MaximumLikelihoodElimination):
        raise ArgumentError(f"{what} needs EliminationByAspects fitted by maximum likelihood; got {model!r}.")
    return model._maximum()
