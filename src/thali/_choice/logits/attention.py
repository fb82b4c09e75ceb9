"""Which attributes people may ignore, which coefficients that makes 0, and what the draws say of
who attends."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.experiments.scheme import INSIDE
from thali._inference.indexing import space_evenly
from thali._labels import suggest
from thali._people.respondent_columns import (
    RespondentCovariates,
    build_covariates,
    list_column_names,
)
from thali._posterior.interval import tails_of
from thali._posterior.view import flat
from thali.errors import Argument, ArgumentError

from ..coding import Coding, build_attention_error

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.experiments import ChoiceExperiment

EVERYTHING = "everything"  # the pattern of who ignores no attribute
NOTHING = "nothing"  # and of who ignores all
OTHERS = "other patterns"
# of columns of people, and their names, in the draws
EFFECT, COVARIATE = "attention_effect", "attention_covariate"
_MAX_PATTERNS = 16  # that have a row
_PATTERN_DRAWS = 1000  # at most, in which patterns are counted


class Attention(NamedTuple):
    """The attributes that people may ignore."""

    names: tuple[str, ...]  # (K,)
    owned: np.ndarray  # (K, p) 1.0 where a coefficient is one of that attribute
    people: RespondentCovariates | None = None  # by which they attend, if by any

    def heeded(self, attends: np.ndarray) -> np.ndarray:
        """Which coefficients (..., p) somebody does not ignore who attends (..., K) to these
        attributes."""
        return (1.0 - attends) @ self.owned == 0.0

    def rates(self, rate: np.ndarray, effect: np.ndarray, like: Any = ...) -> np.ndarray:
        """The probability that people attend, (..., people or 1, K), by theta (..., K) and gamma
        (..., r, K).

        They are the respondents, or have the columns of those with the numbers `like` (...,
        people).
        """
        from scipy.special import expit, logit

        rate = rate[..., None, :]
        return (
            rate
            if self.people is None
            else expit(logit(rate) + self.people.matrix[like, 1:] @ effect)
        )


def attention_of(given: Any, data: "ChoiceExperiment", coding: Coding, by: Any = None) -> Attention:
    """The arguments `attention` and `attention_by`, checked."""
    if given is None:
        if list_column_names(by, "attention_by"):
            raise build_attention_error("attention_by")
        return owning((), data.attributes, coding)
    people = build_covariates(by, data.people, data.n_respondents, "attention_by")
    return _attention_of(given, data, coding)._replace(people=people if people.names else None)


def _attention_of(given: Any, data: "ChoiceExperiment", coding: Coding) -> Attention:
    """The argument `attention`, checked."""
    known = owning(
        [name for name in data.attributes if not _is_constant(name, data)], data.attributes, coding
    )
    known = owning(
        [name for name, owned in zip(known.names, known.owned, strict=True) if owned.any()],
        data.attributes,
        coding,
    )
    if len(known.names) < 2:
        named = f"only {known.names[0]!r}" if known.names else "none"
        raise ArgumentError(
            Argument("attention"),
            f" requires at least two attributes that vary between products; the data have {named}."
            " A respondent who ignored all attributes would choose at random.",
        )
    if given is True:
        return known
    return owning(
        [_known(name, known.names, data) for name in _names(given)], data.attributes, coding
    )


def owning(names: Iterable[str], attributes: Sequence[str], coding: Coding) -> Attention:
    """The attributes with their coefficients: of levels, slopes, and interactions with another
    attribute.

    Who ignores an attribute still sees whether a product has it: that column is a constant of such
    products.
    """
    names = tuple(dict.fromkeys(names))
    owners = np.concatenate(
        [np.where(part.table[-1] == 0.0, place, -1) for place, part in enumerate(coding.parts)]
        or [np.zeros(0)]
    )
    owned = np.zeros((len(names), len(coding.names)))
    for k, name in enumerate(names):
        own = owners == attributes.index(name)
        owned[k] = [*own, *(own[a] or own[b] for a, b in coding.crossed)]
    return Attention(names, owned)


def _is_constant(name: str, data: "ChoiceExperiment") -> bool:
    """Whether it is what makes products of a kind, not one of their attributes."""
    return name in (INSIDE, data.scheme.alternative)


def _names(given: Any) -> list[str]:
    if isinstance(given, str):
        return [given]
    if (
        isinstance(given, bool)
        or not isinstance(given, Iterable)
        or not (found := [str(name) for name in given])
    ):
        raise ArgumentError(
            Argument("attention"),
            " must be True (all attributes), or a list of attributes that respondents may ignore;"
            f" got {given!r}.",
        )
    return found


def _known(name: str, known: Sequence[str], data: "ChoiceExperiment") -> str:
    if name in known:
        return name
    if name not in data.attributes:
        raise ArgumentError(
            Argument("attention"),
            f" contains {name!r}, which is not an attribute.{suggest(name, known)}",
        )
    why = (
        "a constant, to which all respondents attend"
        if _is_constant(name, data)
        else "constant in all products"
    )
    raise ArgumentError(
        Argument("attention"), f" contains {name!r}, which is {why}; remove {name!r}."
    )


# What the draws say -------------------------------------------------------------------------------


class AttentionTables(NamedTuple):
    """Which attributes people attend to.

    Attributes
    ----------
    shares : pandas.DataFrame
        Index attribute: `attends`, the posterior mean of the part of the population that attends to
        it, its interval `low` to `high`, `ess` and `r_hat` of that part, and `r_hat_respondents`,
        the largest R-hat of a respondent's.
    people : pandas.DataFrame (respondents, attributes)
        The probability that each respondent attends to each attribute.
    patterns : pandas.DataFrame
        Index pattern, the attributes that are attended to: `share` of the respondents, its interval
        `low` to `high`; the most frequent first, and of more than 16 the rest in one row.
    odds : pandas.DataFrame, optional
        With `attention_by`, a row an attribute and covariate, `attribute` and `column`: by which
        factor one more of the column multiplies the `odds` of attending to it (posterior median),
        its interval `low` to `high`; of its logarithm the posterior mean `log_odds`, `ess` and
        `r_hat`.
    """

    shares: "pandas.DataFrame"
    people: "pandas.DataFrame"
    patterns: "pandas.DataFrame"
    odds: "pandas.DataFrame | None" = None


def attention_tables(posterior: "xarray.Dataset", ci: float) -> AttentionTables:
    """Shares by attribute, probabilities by person, and shares of patterns."""
    import pandas as pd

    from thali._posterior.summary import summary_table
    from thali._tables import Table

    tails = tails_of(ci)
    names = [str(name) for name in posterior["attribute"].values]
    rates, attends = posterior["attention"].values, posterior["attends"].values
    rows = summary_table({name: rates[..., k] for k, name in enumerate(names)})
    low, high = np.quantile(rates.reshape(-1, len(names)), tails, axis=0)
    shares = Table(
        {
            "attends": rates.mean(axis=(0, 1)),
            "low": low,
            "high": high,
            "ess": rows[["ess_bulk", "ess_tail"]].min(axis=1).to_numpy(),
            "r_hat": rows["r_hat"].to_numpy(),
            "r_hat_respondents": [_worst_r_hat(attends[..., k]) for k in range(len(names))],
        },
        index=pd.Index(names, name="attribute"),
    )
    shares.attrs["interval"] = ci
    respondents = pd.Index(posterior["respondent"].values, name="respondent")
    people = Table(attends.mean(axis=(0, 1)), index=respondents, columns=names)
    patterns = _patterns(flat(attends), names, tails, ci)
    return AttentionTables(
        shares, people, patterns, _odds(posterior, tails, ci) if EFFECT in posterior else None
    )


def effects_of(posterior: "xarray.Dataset") -> dict[tuple[str, str], np.ndarray]:
    """By attribute and covariate of people: what a unit more of it adds to the log odds of
    attending, draw by draw."""
    if EFFECT not in posterior:
        return {}
    values = posterior[EFFECT].values
    attributes, columns = (
        [str(name) for name in posterior[dim].values] for dim in ("attribute", COVARIATE)
    )
    return {
        (name, by): values[..., r, k]
        for k, name in enumerate(attributes)
        for r, by in enumerate(columns)
    }


def _odds(posterior: "xarray.Dataset", tails: tuple[float, float], ci: float) -> "pandas.DataFrame":
    """How columns of people multiply the odds of attending."""
    from thali._posterior.summary import summary_table
    from thali._tables import Table

    effects = effects_of(posterior)
    rows = summary_table({" ".join(pair): values for pair, values in effects.items()})
    drawn = np.exp(np.array([values.ravel() for values in effects.values()]))
    low, middle, high = np.quantile(drawn, [tails[0], 0.5, tails[1]], axis=1)
    table = Table(list(effects), columns=["attribute", "column"]).assign(
        odds=middle,
        low=low,
        high=high,
        log_odds=rows["mean"].to_numpy(),
        ess=rows[["ess_bulk", "ess_tail"]].min(axis=1).to_numpy(),
        r_hat=rows["r_hat"].to_numpy(),
    )
    table.attrs["interval"] = ci
    return table


def _worst_r_hat(attends: np.ndarray) -> float:
    """The largest R-hat of a person's draws (chain, draw, people); of one who never changes there
    is none."""
    from thali._posterior.summary import bulk_and_r_hat

    r_hat = bulk_and_r_hat(np.moveaxis(attends, 2, 0))[1]
    known = r_hat[~np.isnan(r_hat)]
    return float(known.max()) if len(known) else np.nan


def _patterns(
    attends: np.ndarray, names: list[str], tails: tuple[float, float], ci: float
) -> "pandas.DataFrame":
    """How many of the people attend to just these attributes, of draws (draws, people, K)."""
    import pandas as pd

    from thali._tables import Table

    kept = space_evenly(len(attends), _PATTERN_DRAWS)
    attends = attends[kept]
    patterns, place = np.unique(attends.reshape(-1, len(names)), axis=0, return_inverse=True)
    counts = np.zeros((len(attends), len(patterns)))
    np.add.at(counts, (np.repeat(np.arange(len(attends)), attends.shape[1]), place.ravel()), 1.0)
    share = counts / attends.shape[1]
    order = np.argsort(-share.mean(axis=0), kind="stable")
    kept = order if len(order) <= _MAX_PATTERNS else order[: _MAX_PATTERNS - 1]
    columns, labels = share[:, kept], [_pattern(row, names) for row in patterns[kept]]
    if len(kept) < len(order):
        columns, labels = np.column_stack([columns, 1.0 - columns.sum(axis=1)]), [*labels, OTHERS]
    low, high = np.quantile(columns, tails, axis=0)
    index = pd.Index(labels, name="pattern")
    table = Table({"share": columns.mean(axis=0), "low": low, "high": high}, index=index)
    table.attrs["interval"] = ci
    return table


def _pattern(row: np.ndarray, names: list[str]) -> str:
    if row.all():
        return EVERYTHING
    return " + ".join(name for name, attends in zip(names, row, strict=True) if attends) or NOTHING
