"""Headings, units and error columns of the tables of findings."""

from typing import TYPE_CHECKING, NamedTuple

from thali._object_descriptions import drop_empty_columns

if TYPE_CHECKING:
    import pandas

# in attrs: whether std_error is a Monte Carlo error
MONTE_CARLO = "monte_carlo"
_MONTE_CARLO_ERROR = "MC error"
_STANDARD_ERROR = "std. error"
_ERRORS = {"_mcse": _MONTE_CARLO_ERROR, "_se": _STANDARD_ERROR}
# types of attrs to keep; tables in attrs belong to other findings
_PLAIN = (str, int, float, tuple, list, dict)
HEADINGS = "headings"  # in attrs: headings of the columns of this table


class ColumnDescription(NamedTuple):
    """Heading, unit and error column of a table column."""

    heading: str = ""  # "": its name
    unit: str = ""
    error: str = ""  # the column of its standard or Monte Carlo error
    decimals: int | None = None  # in a terminal; None: as usual


PROBABILITY = "probability"
COLUMNS = {
    "mean": ColumnDescription(error="mcse_mean"),
    "n_features": ColumnDescription("features"),
    "aic": ColumnDescription("AIC"),
    "bic": ColumnDescription("BIC"),
    "log_likelihood": ColumnDescription("log-likelihood", "nats"),
    "entropy_r2": ColumnDescription("entropy R²"),
    "std_error_independent": ColumnDescription("if independent"),
    "share_new": ColumnDescription("new respondents"),
    "probability": ColumnDescription(unit=PROBABILITY, error="mcse"),
    "mcse": ColumnDescription(_MONTE_CARLO_ERROR),
    "mcse_mean": ColumnDescription(_MONTE_CARLO_ERROR),
    "ess_bulk": ColumnDescription("ess_bulk", "draws"),
    "ess_tail": ColumnDescription("ess_tail", "draws"),
    "r_hat": ColumnDescription("r_hat"),
    "weight": ColumnDescription(unit="weight"),
    "share": ColumnDescription(unit="share", error="std_error"),
    "rank": ColumnDescription(unit="rank, 1 the best"),
    "p_1": ColumnDescription("P(best)", PROBABILITY),
    "above_0": ColumnDescription("P(> 0)", PROBABILITY),
    "odds": ColumnDescription(unit="odds ratio"),
    "observed": ColumnDescription(unit="proportion or similarity"),
    "predicted": ColumnDescription(unit="as observed"),
    "p_value": ColumnDescription("p", PROBABILITY),
    "utility": ColumnDescription(unit="utility", error="std_error"),
    "estimate": ColumnDescription(error="std_error"),
    "std_error": ColumnDescription(_STANDARD_ERROR),
    "effect": ColumnDescription("preferred", PROBABILITY, "std_error"),
    "importance": ColumnDescription(unit="share", error="std_error"),
    "range_share": ColumnDescription("share of range", "share", "range_share_se"),
    "wtp": ColumnDescription("amount", "units of the price", "wtp_se"),
    "respondents_sd": ColumnDescription("sd of respondents"),
    "zero_centred": ColumnDescription("zero-centred", "mean range 100", decimals=1),
    "zero_centred_sd": ColumnDescription("sd (zero-centred)", decimals=1),
    "more_votes": ColumnDescription(decimals=0),
    "more": ColumnDescription(unit="units of the covariate"),
    "odds_low": ColumnDescription(unit="odds ratio"),
    "log_odds": ColumnDescription(unit="log odds of the first option per unit of the covariate"),
    **dict.fromkeys(
        ("rating", "rating_low", "rating_high", "rating_without"),
        ColumnDescription(unit="400 points: odds of 10 to 1", decimals=0),
    ),
    "discrimination": ColumnDescription(unit="1: the typical judge", decimals=2),
    "log_discrimination": ColumnDescription("mean log discrimination"),
    "p_sharper": ColumnDescription("P(sharper)", PROBABILITY),
    "log_score_typical": ColumnDescription("typical", "nats per comparison"),
    "log_score_chance": ColumnDescription("chance", "nats per comparison"),
    "p_better": ColumnDescription("P(better)", PROBABILITY),
    "log_predictive": ColumnDescription("log pred.", "nats per choice"),
    "score": ColumnDescription(unit="sums to 100"),
    "reach": ColumnDescription(unit="share of respondents"),
    "frequency": ColumnDescription(unit="options per respondent", decimals=2),
    "best": ColumnDescription("P(best)", PROBABILITY),
    # comparisons of models
    "nll": ColumnDescription("score", "nats per pair", "nll_mcse"),
    "information": ColumnDescription("bits", "bits per comparison"),
    "mean_log_pred": ColumnDescription("log pred.", "nats per pair", "mean_log_pred_mcse"),
    "log_score": ColumnDescription(unit="nats", error="log_score_se"),
    "log_loss": ColumnDescription(unit="nats", error="log_loss_se"),
    "hit_rate": ColumnDescription("hits", "share", "hit_rate_se"),
    "accuracy": ColumnDescription("accuracy", "share", "accuracy_se"),
    "brier": ColumnDescription("Brier"),
    "squared_error": ColumnDescription("sq. error"),
    "difference": ColumnDescription("to best", "as the score", "difference_se"),
    "together": ColumnDescription(unit="nats per choice", error="together_se"),
    "log_evidence": ColumnDescription(unit="nats", error="std_error"),
    "log_bayes_factor": ColumnDescription("log BF of best", "nats", "log_bayes_factor_se"),
}


def add_column_descriptions(table: "pandas.DataFrame | None") -> "pandas.DataFrame | None":
    """Return a table without empty columns, with units and errors in `attrs`."""
    if table is None:
        return None
    described_table = drop_empty_columns(table).copy()
    column_names = [str(name) for name in described_table.columns]
    descriptions = {name: COLUMNS[name] for name in column_names if name in COLUMNS}
    described_table.attrs = {
        name: attr for name, attr in table.attrs.items() if isinstance(attr, _PLAIN)
    }
    described_table.attrs["columns"] = {
        name: {"unit": column.unit, "error": _find_error_column(name, column_names)}
        for name, column in descriptions.items()
    }
    return described_table


def _find_error_column(name: str, names: list[str]) -> str:
    """Return the name of the column with this column's errors; "" if none."""
    for error_column in (COLUMNS[name].error, f"{name}_se"):
        if error_column in names:
            return error_column
    return ""


def format_heading(name: str, is_monte_carlo: bool = False) -> str:
    """Return the printed heading of a column."""
    printed_heading = COLUMNS.get(name, ColumnDescription()).heading
    if not printed_heading:
        printed_heading = name.replace("_", " ")
        for suffix, error_heading in _ERRORS.items():
            if name.endswith(suffix):
                printed_heading = error_heading
    if is_monte_carlo and printed_heading == _STANDARD_ERROR:
        return _MONTE_CARLO_ERROR
    return printed_heading
