"""Attribute non-attendance: which attributes respondents may ignore, and tables about it."""

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.experiments.product_encoding import INSIDE
from thali._inference.index_arithmetic import argsort_descending, space_evenly
from thali._labels import suggest
from thali._people.respondent_columns import (
    RespondentCovariates,
    build_covariates,
    list_column_names,
)
from thali._posterior.posterior_interval import interval_tails
from thali._posterior.posterior_tree import flatten_chains
from thali.errors import Argument, ArgumentError

from ..product_coding import Coding, build_attention_error

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.experiments import ChoiceExperiment

ALL_ATTENDED = "everything"  # the pattern of people who ignore no attribute
NONE_ATTENDED = "nothing"  # the pattern of people who ignore all attributes
OTHER_PATTERNS = "other patterns"
# variable of effects of people's columns on attention, and its dimension
EFFECT, COVARIATE = "attention_effect", "attention_covariate"
_MAX_PATTERNS = 16  # rows of the table
_PATTERN_DRAWS = 1000  # largest number of draws to count patterns


class Attention(NamedTuple):
    """Attributes that respondents may ignore, and the coefficients of each."""

    names: tuple[str, ...]  # (K,)
    owned: np.ndarray  # (K, p) 1.0 where a coefficient belongs to the attribute
    people: RespondentCovariates | None = None  # covariates of attention

    def is_heeded(self, attends: np.ndarray) -> np.ndarray:
        """Return a mask (..., p) of coefficients of attended attributes."""
        return (1.0 - attends) @ self.owned == 0.0

    def attention_rates(self, rate: np.ndarray, effect: np.ndarray, like: Any = ...) -> np.ndarray:
        """Return probabilities of attending to each attribute, (..., people or 1, K).

        `rate` is theta (..., K), `effect` is gamma (..., r, K). The people are the respondents, or
        have the columns of respondents with the indices `like` (..., people).
        """
        from scipy.special import expit, logit

        rate = rate[..., None, :]
        if self.people is None:
            return rate
        return expit(logit(rate) + self.people.matrix[like, 1:] @ effect)


def resolve_attention(
    attention: Any, data: "ChoiceExperiment", coding: Coding, by: Any = None
) -> Attention:
    """Return the attributes that respondents may ignore, from the user's arguments."""
    if attention is None:
        if list_column_names(by, "attention_by"):
            raise build_attention_error("attention_by")
        return build_attention((), data.attributes, coding)
    attention_covariates = build_covariates(by, data.people, data.n_respondents, "attention_by")
    ignorable_attributes = _resolve_attributes(attention, data, coding)
    if attention_covariates.names:
        ignorable_attributes = ignorable_attributes._replace(people=attention_covariates)
    return ignorable_attributes


def _resolve_attributes(attention: Any, data: "ChoiceExperiment", coding: Coding) -> Attention:
    """Return the attributes that the argument `attention` allows to be ignored."""
    varying_attributes = [name for name in data.attributes if not _is_constant(name, data)]
    owned_coefficients = build_attention(varying_attributes, data.attributes, coding).owned
    varying_attributes = compress(varying_attributes, np.any(owned_coefficients, axis=1))
    eligible_attention = build_attention(varying_attributes, data.attributes, coding)
    if len(eligible_attention.names) < 2:
        eligible_text = "none"
        if eligible_attention.names:
            eligible_text = f"only {eligible_attention.names[0]!r}"
        raise ArgumentError(
            Argument("attention"),
            " requires at least two attributes that vary between products; the data have"
            f" {eligible_text}."
            " A respondent who ignored all attributes would choose at random.",
        )
    if attention is True:
        return eligible_attention
    for name in (chosen_names := _list_names(attention)):
        _check_attribute(name, eligible_attention.names, data)
    return build_attention(chosen_names, data.attributes, coding)


def build_attention(names: Iterable[str], attributes: Sequence[str], coding: Coding) -> Attention:
    """Return named attributes that may be ignored, with their coefficients.

    These are coefficients of levels, slopes, and interactions with another attribute. People who
    ignore an attribute still see whether a product has it: that column is a constant of such
    products.
    """
    names = tuple(dict.fromkeys(names))
    attribute_of_coefficient = np.concatenate(
        [np.where(part.table[-1] == 0.0, i, -1) for i, part in enumerate(coding.parts)]
        or [np.zeros(0)]
    )
    owned_coefficients = np.zeros((len(names), len(coding.names)))
    for k, name in enumerate(names):
        is_owned = attribute_of_coefficient == attributes.index(name)
        owned_coefficients[k] = [
            *is_owned,
            *(is_owned[a] or is_owned[b] for a, b in coding.crossed),
        ]
    return Attention(names, owned_coefficients)


def _is_constant(name: str, data: "ChoiceExperiment") -> bool:
    """Return whether an attribute only marks an alternative, such as no choice."""
    return name in (INSIDE, data.scheme.alternative)


def _list_names(attention: Any) -> list[str]:
    """Return the attribute names in the argument `attention`."""
    if isinstance(attention, str):
        return [attention]
    if (
        isinstance(attention, bool)
        or not isinstance(attention, Iterable)
        or not (names := [str(name) for name in attention])
    ):
        raise ArgumentError(
            Argument("attention"),
            " must be True (all attributes), or a list of attributes that respondents may ignore;"
            f" got {attention!r}.",
        )
    return names


def _check_attribute(name: str, eligible: Sequence[str], data: "ChoiceExperiment") -> None:
    """Raise ArgumentError unless respondents can ignore this attribute."""
    if name in eligible:
        return
    if name not in data.attributes:
        raise ArgumentError(
            Argument("attention"),
            f" contains {name!r}, which is not an attribute.{suggest(name, eligible)}",
        )
    reason = "constant in all products"
    if _is_constant(name, data):
        reason = "a constant, to which all respondents attend"
    raise ArgumentError(
        Argument("attention"), f" contains {name!r}, which is {reason}; remove {name!r}."
    )


# Tables from draws --------------------------------------------------------------------------------


class AttentionTables(NamedTuple):
    """Three tables on attention: shares, by respondent, and patterns.

    Attributes
    ----------
    shares : pandas.DataFrame
        Index attribute: `attends`, the posterior mean of the share of the population that attends
        to it, its interval `low` to `high`, its `ess` and `r_hat`, and `r_hat_respondents`, the
        largest R-hat of a respondent's attention.
    people : pandas.DataFrame (respondents, attributes)
        The probability that each respondent attends to each attribute.
    patterns : pandas.DataFrame
        Index pattern, the attended attributes: `share` of the respondents, its interval `low` to
        `high`; the most frequent first, with one row for all patterns after the first 15 if there
        are more than 16.
    odds : pandas.DataFrame, optional
        With `attention_by`, one row per attribute and covariate, `attribute` and `column`: the
        factor of the `odds` of attending for one unit of the column (posterior median), its
        interval `low` to `high`; for its logarithm the posterior mean `log_odds`, `ess` and
        `r_hat`.
    """

    shares: "pandas.DataFrame"
    people: "pandas.DataFrame"
    patterns: "pandas.DataFrame"
    odds: "pandas.DataFrame | None" = None


def build_attention_tables(posterior: "xarray.Dataset", ci: float) -> AttentionTables:
    """Build tables of attentive shares, probabilities by respondent, and patterns."""
    import pandas as pd

    from thali._exportable_table import Table
    from thali._posterior.summary_table import build_summary

    tails = interval_tails(ci)
    names = [str(name) for name in posterior["attribute"].values]
    rates, attends = posterior["attention"].values, posterior["attends"].values
    summary_rows = build_summary({name: rates[..., k] for k, name in enumerate(names)})
    low, high = np.quantile(rates.reshape(-1, len(names)), tails, axis=0)
    shares_table = Table(
        {
            "attends": rates.mean(axis=(0, 1)),
            "low": low,
            "high": high,
            "ess": summary_rows[["ess_bulk", "ess_tail"]].min(axis=1).to_numpy(),
            "r_hat": summary_rows["r_hat"].to_numpy(),
            "r_hat_respondents": [
                _compute_largest_r_hat(attends[..., k]) for k in range(len(names))
            ],
        },
        index=pd.Index(names, name="attribute"),
    )
    shares_table.attrs["interval"] = ci
    respondents = pd.Index(posterior["respondent"].values, name="respondent")
    respondent_table = Table(attends.mean(axis=(0, 1)), index=respondents, columns=names)
    patterns = _tabulate_patterns(flatten_chains(attends), names, tails, ci)
    attention_tables = AttentionTables(shares_table, respondent_table, patterns)
    if EFFECT in posterior:
        attention_tables = attention_tables._replace(odds=_tabulate_odds(posterior, tails, ci))
    return attention_tables


def attention_effects(posterior: "xarray.Dataset") -> dict[tuple[str, str], np.ndarray]:
    """Return draws of effects on the log odds of attending, by (attribute, column)."""
    if EFFECT not in posterior:
        return {}
    effects = posterior[EFFECT].values
    attributes, columns = (
        [str(attribute) for attribute in posterior[dimension].values]
        for dimension in ("attribute", COVARIATE)
    )
    return {
        (attribute, column): effects[..., r, k]
        for k, attribute in enumerate(attributes)
        for r, column in enumerate(columns)
    }


def _tabulate_odds(
    posterior: "xarray.Dataset", tails: tuple[float, float], ci: float
) -> "pandas.DataFrame":
    """Return a table of odds ratios of attending, by column about respondents."""
    from thali._exportable_table import Table
    from thali._posterior.summary_table import build_summary

    effects = attention_effects(posterior)
    summary_rows = build_summary({" ".join(pair): draws for pair, draws in effects.items()})
    odds_draws = np.exp(np.array([draws.ravel() for draws in effects.values()]))
    low_odds, median_odds, high_odds = np.quantile(odds_draws, [tails[0], 0.5, tails[1]], axis=1)
    table = Table(list(effects), columns=["attribute", "column"]).assign(
        odds=median_odds,
        low=low_odds,
        high=high_odds,
        log_odds=summary_rows["mean"].to_numpy(),
        ess=summary_rows[["ess_bulk", "ess_tail"]].min(axis=1).to_numpy(),
        r_hat=summary_rows["r_hat"].to_numpy(),
    )
    table.attrs["interval"] = ci
    return table


def _compute_largest_r_hat(attends: np.ndarray) -> float:
    """Return the largest R-hat of respondents' draws (chain, draw, people)."""
    # People without changes have none.
    from thali._posterior.summary_table import compute_ess_and_r_hat

    r_hat = compute_ess_and_r_hat(np.moveaxis(attends, 2, 0))[1]
    return float(np.fmax.reduce(r_hat, initial=np.nan))  # ignores NaN


def _tabulate_patterns(
    attends: np.ndarray, names: list[str], tails: tuple[float, float], ci: float
) -> "pandas.DataFrame":
    """Return a table of the shares of respondents with each pattern of attention."""
    import pandas as pd

    from thali._exportable_table import Table

    attends = attends[space_evenly(len(attends), _PATTERN_DRAWS)]
    patterns, pattern_index = np.unique(
        attends.reshape(-1, len(names)), axis=0, return_inverse=True
    )
    pattern_counts = np.zeros((len(attends), len(patterns)))
    np.add.at(
        pattern_counts,
        (np.repeat(np.arange(len(attends)), attends.shape[1]), pattern_index.ravel()),
        1.0,
    )
    pattern_shares = pattern_counts / attends.shape[1]
    pattern_order = argsort_descending(pattern_shares.mean(axis=0))
    has_others = len(pattern_order) > _MAX_PATTERNS
    if has_others:
        pattern_order = pattern_order[: _MAX_PATTERNS - 1]
    sorted_shares = pattern_shares[:, pattern_order]
    pattern_names = [_name_pattern(row, names) for row in patterns[pattern_order]]
    if has_others:
        sorted_shares = np.column_stack([sorted_shares, 1.0 - sorted_shares.sum(axis=1)])
        pattern_names.append(OTHER_PATTERNS)
    low, high = np.quantile(sorted_shares, tails, axis=0)
    index = pd.Index(pattern_names, name="pattern")
    table = Table({"share": sorted_shares.mean(axis=0), "low": low, "high": high}, index=index)
    table.attrs["interval"] = ci
    return table


def _name_pattern(is_attended: np.ndarray, names: list[str]) -> str:
    """Return words for a pattern, the attended attributes."""
    if is_attended.all():
        return ALL_ATTENDED
    return " + ".join(compress(names, is_attended)) or NONE_ATTENDED
