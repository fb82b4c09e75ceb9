"""The density of a leaderboard's comparisons, and what draws of it say about judges and about
time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import check_positive
from thali._data.checks import convert_whole_counts
from thali._data.choices import Choices
from thali._data.pairs import PairedComparisons
from thali._data.pairs.dates import DAY, PERIODS, Dates, group_equal_rows
from thali._data.pairs.parts import list_finest_rows
from thali._inference.numerics.ranks import fit_descending_means, sort_descending
from thali._labels import format_plural, shorten
from thali._people.populations import Individuals, chains_required_error
from thali._posterior.convergence import Advice, ConvergenceCheck, check_convergence
from thali._posterior.interval import INTERVAL, interval_tails
from thali._posterior.summary import build_summary
from thali.errors import Argument, ArgumentError, DataError, InPython, Setting, Value

from .counted import Judgements
from .scale import WorthScale

if TYPE_CHECKING:
    import pandas

    from thali._worths.density import Density, Spreads
    from thali._worths.laplace import Marginal

# What is asked for --------------------------------------------------------------------------------


BY_CHAINS = Advice(draws=None, stuck=(Setting("method", "laplace"), " needs no chains"))
# the standard deviations of `Spreads`, in that order
SPREADS = ("spread", "judge_sd", "drift", "bias_sd")
# comparisons of a judge below which Laplace's approximation of the discrimination is said to be
# rough
FEW = 30


def without_prior(name: str) -> ArgumentError:
    """Return the error of an argument that maximum likelihood does not have."""
    either = Setting("method", "laplace"), " or ", Value("method", "mcmc")
    return ArgumentError(Argument(name), " requires a prior; set ", *either, ".")


class WorthsRequest(NamedTuple):
    """How worths are found, whether judges have a discrimination each, and worths change between
    periods, what is known of either, and the probability of intervals."""

    method: str | None = None
    random_seed: Any = 0
    people: Any = None
    lapse: float = 0.0
    spread: float | None = None
    judges: bool = False
    judge_sd: float | None = None
    period: str | None = None
    drift: float | None = None
    since: Any = None
    until: Any = None
    judge_bias: bool = False
    ci: float = INTERVAL

    @property
    def is_plain(self) -> bool:
        """Whether neither is asked for."""
        return not self.judges and self.period is None

    @property
    def has_individuals(self) -> bool:
        """Whether each respondent has individual worths."""
        return isinstance(self.people, Individuals)

    @property
    def has_prior(self) -> bool:
        """Whether worths have a prior."""
        return self.method != "maximum-likelihood"

    def with_method(self) -> "WorthsRequest":
        """Return the request with the method that is usual for it unless one is named.

        Raises
        ------
        ArgumentError
            If individual worths are asked for by another method than chains.
        """
        if not self.has_individuals:
            return self if self.method is not None else self._replace(method="laplace")
        if self.method not in (None, "mcmc"):
            raise chains_required_error(self.people, self.method)
        return self._replace(method="mcmc")

    def check(self) -> None:
        """Refuse what does not go together."""
        interval_tails(self.ci)
        for name, is_given, needs, there in (
            ("judge_sd", self.judge_sd is not None, "judges", self.judges),
            ("drift", self.drift is not None, "period", self.period is not None),
            ("judge_bias", self.judge_bias, "judges", self.judges),
        ):
            if is_given and not there:
                raise ArgumentError(
                    Argument(name), " has no effect without ", Argument(needs), "; give both."
                )
        for name, sd in (("judge_sd", self.judge_sd), ("drift", self.drift)):
            if sd is not None:
                check_positive(name, sd, "a standard deviation")
        what = "judges" if self.judges else "period"
        if not self.is_plain and self.people not in (None, "independent"):
            raise ArgumentError(
                Setting("people", self.people),
                " and ",
                Argument(what),
                " cannot be combined; remove one.",
            )
        if not self.is_plain and not self.has_prior:
            raise without_prior(what)

    def columns(self, columns: dict[str, Any], is_data: bool) -> dict[str, Any]:
        """The columns that are named of a table, with those that this means."""
        if self.period is None or self.period in PERIODS or is_data:
            return columns
        if columns.get("date", self.period) != self.period:
            raise ArgumentError(
                Setting("period", self.period),
                " names a column of integer periods, but ",
                Setting("date", str(columns["date"])),
                " names another column; give only one of the two, or set the length of a period: ",
                Setting("period", "week"),
                ".",
            )
        return columns | {"date": self.period}

    def of(self, data: Judgements) -> Judgements:
        """The comparisons between the dates asked for, with dates if there are periods."""
        if self.judge_bias and data.covariates is None:
            raise DataError(
                Argument("judge_bias"),
                " requires covariates of comparisons, which these data lack; name columns with ",
                Argument("covariates"),
                ".",
            )
        if data.dates is None:
            for name in ("period", "since", "until"):
                if getattr(self, name) is not None:
                    raise DataError(
                        Argument(name),
                        " requires comparisons with dates, which these data lack; name the column"
                        " of dates with ",
                        Argument("date"),
                        InPython(" when reading them: from_trials(frame, date=...).", "."),
                    )
            return data
        if self.period is None and self.since is None and self.until is None:
            raise DataError(
                f"These comparisons have dates ({data.dates.name!r}), which would be ignored; set ",
                Setting("period", "week"),
                InPython(
                    ", or drop the dates with data.without_dates().", ", or exclude that column."
                ),
            )
        assert isinstance(data, PairedComparisons)
        if self.since is not None or self.until is not None:
            data = data.between(self.since, self.until)
        return data.without_dates() if self.period is None else data

    def checked_period(self, dates: Dates) -> str:
        """The period, if these dates have such ones."""
        assert self.period is not None
        if dates.unit == DAY and self.period not in PERIODS:
            raise DataError(
                f"{dates.name!r} contains dates, so the period must be a day, week, month or year;"
                " got ",
                Setting("period", self.period),
                ".",
            )
        if dates.unit != DAY and self.period != dates.name:
            raise DataError(
                f"{dates.name!r} contains integer periods, not dates; set ",
                Setting("period", dates.name),
                ".",
            )
        return self.period


# The density that comparisons leave ---------------------------------------------------------------


class Posed(NamedTuple):
    """The density of data, and what its parts are called."""

    data: Judgements
    asked: WorthsRequest
    density: "Density"
    periods: list[str]
    judges: tuple[str, ...]


def knows_judges(data: Judgements) -> bool:
    """Return whether it is known of each answer who gave it."""
    return bool(data.respondents) and not (
        isinstance(data, Choices) and (data.respondent < 0).any()
    )


def posed(data: Judgements, asked: WorthsRequest) -> Posed:
    """Return the density of comparisons, or of choices from sets."""
    from thali._worths.data_density import build_density
    from thali._worths.density import Density, DistinctComparisons
    from thali._worths.set_density import ChoiceSetDensity, count_distinct_answers

    if asked.judges and not knows_judges(data):
        raise DataError(
            f"These {data.word_for_answers} do not identify judges; name the column of judges with"
            " ",
            InPython("`respondent`", Argument("respondent")),
            ".",
        )
    if asked.is_plain:
        density = build_density(data, asked.lapse, bool(data.n_ties), has_prior=asked.has_prior)
        return Posed(data, asked, density, [""], ())
    judges = data.respondents if asked.judges else ()
    if isinstance(data, Choices):
        density = ChoiceSetDensity(
            count_distinct_answers(data, asked.lapse, with_judges=True), data.n_options, len(judges)
        )
        return Posed(data, asked, density, [""], judges)
    rows, has_ties = list_finest_rows(data), bool(data.n_ties)
    alike = np.zeros(len(rows.x), np.int64)
    number, names = alike, [""]
    if asked.period is not None:
        assert data.dates is not None
        number, names = data.dates.periods(asked.checked_period(data.dates))
    different, place = np.unique(number, return_inverse=True)
    known = [place, rows.first, rows.second, rows.respondent if asked.judges else alike]
    where, counts = group_equal_rows(known, rows.x, np.stack([rows.wins, rows.losses, rows.tied]))
    period, first, second, judge, x = (each[where] for each in (*known, rows.x))
    n, entry = data.n_options, np.full(data.n_options, len(different))
    np.minimum.at(entry, np.append(first, second), np.append(period, period))
    entry[entry == len(different)] = 0  # never compared
    wins, losses, tied = counts
    made = DistinctComparisons(
        first, second, period, judge, x, wins, losses, tied, asked.lapse, has_ties
    )
    density = Density(
        made, n, len(judges), np.diff(different).astype(float), entry, asked.judge_bias
    )
    return Posed(data, asked, density, names, judges)


# Draws, and what they say -------------------------------------------------------------------------


class JudgedWorths(NamedTuple):
    """Tables of judges and of worths in time."""

    judges: "pandas.DataFrame | None"
    in_time: "pandas.DataFrame | None"
    note: str


def judged_worths(
    pose: Posed, scale: WorthScale, marginal: "Marginal", points: np.ndarray, spreads: "Spreads"
) -> JudgedWorths:
    """Return the tables that draws give."""
    density, data = pose.density, pose.data
    judges, in_time = _judges(pose, points, marginal) if pose.judges else None, None
    if pose.asked.period is not None:
        worths = scale.anchored(density.centre_by_period(points), data.labels, axis=1)
        modes = density.worths_by_period(marginal.mean_mode[:, None])[..., 0]
        in_time = _in_time(pose, worths, modes, scale)
    note = _note(pose, scale, spreads, judges)
    if judges is not None and isinstance(data, Choices) and data.n_ties:
        note += " Log scores of judges do not count ties in rankings."
    if judges is None and data.respondents:
        note += " Answers of the same respondent are treated as independent."
    return JudgedWorths(judges, in_time, note)


def agreement_of(
    reported: np.ndarray,
    marginal: "Marginal",
    options: Sequence[str],
    periods: Sequence[str],
    judges: Sequence[str],
    covariates: Sequence[str],
    others: Sequence[str] = (),
    spreads: Sequence[str] = SPREADS,
) -> ConvergenceCheck:
    """Whether the chains agree about all that is reported; `others` are the names of what a point
    holds at its end."""
    density = marginal.density
    at = [f", {period}" if len(periods) > 1 else "" for period in periods]
    names = [f"log_worth[{options[k]}{at[t]}]" for t, k in np.argwhere(density.present).tolist()]
    names += ["tie"] * (density.nu.stop - density.nu.start)
    names += [f"covariate[{name}]" for name in covariates]
    names += [f"discrimination[{judge}]" for judge in judges]
    names += [f"bias[{name}, {judge}]" for judge in judges for name in covariates if density.n_bias]
    names += [*others, *(spreads[k] for k in marginal.learned)]
    return check_convergence(build_summary(dict(zip(names, reported, strict=True))), BY_CHAINS)


def _judges(pose: Posed, points: np.ndarray, marginal: "Marginal") -> "pandas.DataFrame":
    """The table of judges."""
    import pandas as pd

    from thali._worths.judge_agreement import measure_agreement

    density, tails, covariates = (
        pose.density,
        interval_tails(pose.asked.ci),
        pose.data.covariate_names,
    )
    logs, rows = density.log_discriminations(points), density.rows
    low, high = np.exp(np.quantile(logs, tails, axis=1))
    found = measure_agreement(marginal)
    count = np.bincount(rows.judge, rows.total, density.n_judges)
    columns = {
        "discrimination": np.exp(np.median(logs, axis=1)),
        "low": low,
        "high": high,
        "log_discrimination": logs.mean(axis=1),
        "p_sharper": (logs > np.median(logs, axis=0)).mean(axis=1),
        "comparisons": convert_whole_counts(count),
        "log_score": found.score,
        "log_score_typical": found.expected,
        "log_score_chance": found.chance,
    }
    if density.n_bias:
        own = (
            points[density.bias].reshape(density.n_judges, len(covariates), -1)
            + points[density.beta]
        )
        ends = np.quantile(own, tails, axis=2)
        for k, name in enumerate(covariates):
            columns |= {f"bias_{name}": own[:, k].mean(axis=1)}
            columns |= {f"bias_{name}_low": ends[0, :, k], f"bias_{name}_high": ends[1, :, k]}
    table = pd.DataFrame(columns, index=pd.Index(np.array(pose.judges, dtype=object), name="judge"))
    return table.sort_values("discrimination", ascending=False, kind="stable")


def check_anchor(pose: Posed, scale: WorthScale) -> None:
    """Refuse an option as the anchor of periods in which it was not there yet."""
    place = scale.place(pose.data.labels)
    if place is not None and pose.density.entry[place] > 0:
        raise DataError(
            Argument("anchor_model"),
            f" is {scale.anchor!r}, which first appears in period"
            f" {pose.periods[pose.density.entry[place]]}, but the anchor must be present from the"
            f" first period ({pose.periods[0]}); choose another anchor, or start later with ",
            Argument("since"),
            ".",
        )


def _in_time(
    pose: Posed, worths: np.ndarray, modes: np.ndarray, scale: WorthScale
) -> "pandas.DataFrame":
    """The table of worths in time; `worths` (periods, options, draws) are centred, or anchored;
    `modes` order them."""
    import pandas as pd
    from scipy.special import expit

    density, found, tails = pose.density, [], interval_tails(pose.asked.ci)
    lapse = float(density.rows.lapse)
    labels = np.array(pose.data.labels, dtype=object)
    for t, name in enumerate(pose.periods):
        there = np.flatnonzero(density.present[t])
        own = worths[t, there]
        rating = scale.ratings(own)
        low, high = np.quantile(rating, tails, axis=1)
        rank = np.argsort(np.argsort(-own, axis=0, kind="stable"), axis=0) + 1
        rank_low, rank_high = np.quantile(rank, tails, axis=1, method="inverted_cdf").astype(int)
        order = sort_descending(modes[t, there])
        middle = fit_descending_means(order, rating.mean(axis=1))
        begin = worths[density.entry[there], there]
        columns: dict[str, Any] = {
            "option": labels[there],
            "period": name,
            "rating": middle,
            "low": low,
            "high": high,
        }
        columns["rank"] = np.argsort(order) + 1
        columns |= {"rank_low": rank_low, "rank_high": rank_high}
        can_change = (density.entry[there] < t) & (labels[there] != scale.anchor)
        columns["p_better"] = np.where(can_change, (own > begin).mean(axis=1), np.nan)
        p = (1.0 - lapse) * expit(own - worths[t, 0]) + lapse / 2.0
        is_compared = (there != 0) & (density.entry[0] <= t)
        columns["probability"] = np.where(is_compared, p.mean(axis=1), np.nan)
        found.append(pd.DataFrame(columns))
    return pd.concat(found, ignore_index=True)


def _note(
    pose: Posed, scale: WorthScale, spreads: "Spreads", judges: "pandas.DataFrame | None"
) -> str:
    """What the numbers mean."""
    asked, density = pose.asked, pose.density
    sentences = []
    if judges is not None:
        tau = _known(asked.judge_sd, spreads.judges, asked.ci)
        sentences.append(
            "Worths and ratings are those that the typical judge of this panel sees"
            f" (discrimination 1); the standard deviation of log discriminations is {tau}."
        )
        if density.n_bias:
            sentences.append(
                "Covariate effects apply to a typical judge; they vary between judges by a"
                f" standard deviation of {_known(None, spreads.bias, asked.ci)}."
            )
        few = [
            str(name)
            for name, count in zip(judges.index, judges["comparisons"].tolist(), strict=True)
            if count < FEW
        ]
        if few and asked.method == "laplace":
            has = "have" if len(few) > 1 else "has"
            sentences.append(
                f"Discriminations are approximate, because {format_plural(len(few), 'judge')}"
                f" ({shorten(few, 5)}) {has} fewer than {FEW} {pose.data.word_for_answers}; the"
                " method mcmc avoids this approximation."
            )
    if asked.period is not None:
        drift = _known(asked.drift, spreads.drift, asked.ci)
        stands = scale.sentence
        if scale.anchor is None:
            there = density.is_always_present
            among = (
                "all options"
                if there.all()
                else f"the {format_plural(int(there.sum()), 'option')} present throughout"
            )
            stands = f"the mean rating of {among} is {scale.rating:.0f}"
        sentences.append(
            f"Ratings and ranks are for the last of {format_plural(len(pose.periods), 'period')}"
            " with"
            f" comparisons ({pose.periods[-1]}); in each period, {stands}. Log worths change by a"
            f" standard deviation of {drift} per period."
        )
    return " ".join(sentences)


def _known(value: float | None, drawn: np.ndarray, ci: float) -> str:
    """A standard deviation in words."""
    if value is not None:
        return f"{value:g} (fixed)"
    low, high = np.quantile(drawn, interval_tails(ci))
    return f"{drawn.mean():.2g} ({low:.2g} to {high:.2g})"
