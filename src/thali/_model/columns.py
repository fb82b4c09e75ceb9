"""The columns of the tables of findings: how each is headed, its unit, and which column holds its
error."""

from typing import TYPE_CHECKING, NamedTuple

from thali._described import without_empty
from thali._posterior.interval import INTERVAL, interval_columns

if TYPE_CHECKING:
    import pandas

# in attrs: whether errors called std_error are those of draws, rather than of data
MONTE_CARLO = "monte_carlo"
_OF_DRAWS, _OF_DATA = "MC error", "std. error"
_ERRORS = {"_mcse": _OF_DRAWS, "_se": _OF_DATA}
# attrs that stay; tables among them belong to other findings
_PLAIN = (str, int, float, tuple, list, dict)
HEADINGS = "headings"  # in attrs: how columns of this table alone are headed


class Column(NamedTuple):
    """What there is to know of a column."""

    heading: str = ""  # "": its name
    unit: str = ""
    error: str = ""  # the column of its standard or Monte Carlo error
    decimals: int | None = None  # in a terminal; None: as usual


PROBABILITY, WEIGHT = "probability", "of the total weight, or relative weight"
COLUMNS = {
    "mean": Column(error="mcse_mean"),
    "n_features": Column("features"),
    "aic": Column("AIC"),
    "bic": Column("BIC"),
    "log_likelihood": Column("log-likelihood", "nats"),
    "entropy_r2": Column("entropy R²"),
    "std_error_independent": Column("if independent"),
    "r_hat_respondents": Column("largest r_hat"),
    "share_new": Column("new respondents"),
    "probability": Column(unit=PROBABILITY, error="mcse"),
    "mcse": Column(_OF_DRAWS),
    "mcse_mean": Column(_OF_DRAWS),
    "ess_bulk": Column("ess_bulk", "draws"),
    "ess_tail": Column("ess_tail", "draws"),
    "r_hat": Column("r_hat"),
    "weight": Column(unit="weight"),
    "share": Column(unit="share", error="std_error"),
    "rank": Column(unit="rank, 1 the best"),
    "p_1": Column("P(best)", PROBABILITY),
    "above_0": Column("P(> 0)", PROBABILITY),
    "odds": Column(unit="odds ratio"),
    "observed": Column(unit="proportion or similarity"),
    "predicted": Column(unit="as observed"),
    "occupied": Column("P(occupied)", PROBABILITY),
    "p_value": Column("p", PROBABILITY),
    "utility": Column(unit="utility", error="std_error"),
    "estimate": Column(error="std_error"),
    "std_error": Column(_OF_DATA),
    "effect": Column("preferred", PROBABILITY, "std_error"),
    "importance": Column(unit="share", error="std_error"),
    "range_share": Column("share of range", "share", "range_share_se"),
    "wtp": Column("amount", "units of the price", "wtp_se"),
    "respondents_sd": Column("sd of respondents"),
    "zero_centred": Column("zero-centred", "mean range 100", decimals=1),
    "zero_centred_sd": Column("sd (zero-centred)", decimals=1),
    "more_votes": Column(decimals=0),
    "more": Column(unit="units of the covariate"),
    "odds_low": Column(unit="odds ratio"),
    "log_odds": Column(unit="log odds of the first option per unit of the covariate"),
    **dict.fromkeys(
        ("rating", "rating_low", "rating_high", "rating_without"),
        Column(unit="400 points: odds of 10 to 1", decimals=0),
    ),
    "discrimination": Column(unit="1: the typical judge", decimals=2),
    "log_discrimination": Column("mean log discrimination"),
    "p_sharper": Column("P(> typical)", PROBABILITY),
    "log_score_typical": Column("typical", "nats per comparison"),
    "log_score_chance": Column("chance", "nats per comparison"),
    "p_better": Column("P(better)", PROBABILITY),
    "log_predictive": Column("log pred.", "nats per choice"),
    "score": Column(unit="sums to 100"),
    "reach": Column(unit="share of respondents"),
    "frequency": Column(unit="options per respondent", decimals=2),
    "best": Column("P(best)", PROBABILITY),
    # comparisons of models
    "nll": Column("score", "nats per pair", "nll_mcse"),
    "information": Column("bits", "bits per comparison"),
    "mean_log_pred": Column("log pred.", "nats per pair", "mean_log_pred_mcse"),
    "log_score": Column(unit="nats", error="log_score_se"),
    "log_loss": Column(unit="nats", error="log_loss_se"),
    "hit_rate": Column("hits", "share", "hit_rate_se"),
    "accuracy": Column("accuracy", "share", "accuracy_se"),
    "brier": Column("Brier"),
    "squared_error": Column("sq. error"),
    "difference": Column("to best", "as the score", "difference_se"),
    "together": Column(unit="nats per choice", error="together_se"),
    "log_evidence": Column(unit="nats", error="std_error"),
    "log_bayes_factor": Column("log BF of best", "nats", "log_bayes_factor_se"),
    "p_value_se": Column(_OF_DRAWS),
}


def described(table: "pandas.DataFrame") -> "pandas.DataFrame":
    """The table of a finding: intervals named `low` and `high`, and units and errors in
    `attrs["columns"]`."""
    full = without_empty(table)
    ends = interval_columns(table.attrs.get("interval", INTERVAL))  # as ArviZ calls them
    renamed = full.rename(columns=dict(zip(ends, ("low", "high"), strict=True)))
    names = [str(name) for name in renamed.columns]
    known = {name: COLUMNS[name] for name in names if name in COLUMNS}
    renamed.attrs = {
        name: value for name, value in table.attrs.items() if isinstance(value, _PLAIN)
    } | {
        "columns": {
            name: {
                "unit": column.unit,
                "error": next((each for each in (column.error, f"{name}_se") if each in names), ""),
            }
            for name, column in known.items()
        }
    }
    return renamed


def heading(name: str, monte_carlo: bool = False) -> str:
    """How a column is headed; `monte_carlo`: in a table whose errors are those of draws."""
    known, end = COLUMNS.get(name), next((each for each in _ERRORS if name.endswith(each)), None)
    if known is not None and known.heading:
        found = known.heading
    else:
        found = name.replace("_", " ") if end is None else _ERRORS[end]
    return _OF_DRAWS if monte_carlo and found == _OF_DATA else found
