"""When comparisons were made: dates in many forms, and what is made of comparisons that have
them."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError, DataError


def battles(count=60, seed=0):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 3, count)
    names = np.array(list("ABC"))
    days = pd.date_range("2024-01-30", periods=count, freq="D").astype(str)
    return pd.DataFrame(
        {
            "model_a": names[first],
            "model_b": names[(first + rng.integers(1, 3, count)) % 3],
            "winner": rng.choice(["model_a", "model_b", "tie"], count),
            "judge": rng.choice(["x", "y"], count),
            "length": rng.normal(size=count).round(1),
            "day": days,
        }
    )


FRAME = battles()
DATA = th.PairedComparisons.from_trials(FRAME, covariates=["length"], date="day")


def counted(data):
    """The counts by date, options, person and covariates."""
    own = data.dates
    keys = zip(own.time, own.first, own.second, own.respondent, own.x[:, 0], strict=True)
    return {
        (int(t), data.labels[i], data.labels[j], data.respondents[who], x): tuple(count)
        for (t, i, j, who, x), count in zip(
            keys, np.stack([own.wins, own.losses, own.tied]).T.tolist(), strict=True
        )
    }


@pytest.mark.parametrize(
    "written",
    [
        "2024-05-31",
        "2024/05/31",
        "31.05.2024",
        "31.5.24",
        "31/05/2024 12:01",
        "5/31/2024",
        "2024-05-31T23:59:59Z",
        "May 31, 2024",
        20240531,
        1717113600,
        1717113600.25,
        1717113600123,
        pd.Timestamp("2024-05-31 11:00"),
    ],
)
def test_dates_are_read_in_usual_forms(written):
    dates = th.PairedComparisons.from_trials(
        FRAME.head(2).assign(day=[written] * 2), date="day"
    ).dates
    assert dates.unit == "day"
    assert set(dates.time.astype("datetime64[D]").astype(str)) == {"2024-05-31"}


def test_a_day_above_twelve_decides():
    for cells in (["03/05/24", "31/05/24"], ["05/03/24", "05/31/24"], ["03-05-24", "31-05-24"]):
        data = th.PairedComparisons.from_trials(FRAME.head(2).assign(day=cells), date="day")
        assert data.dates.time.astype("datetime64[D]").astype(str).tolist() == [
            "2024-05-03",
            "2024-05-31",
        ]


def test_whole_numbers_are_periods():
    dates = th.PairedComparisons.from_trials(
        FRAME.head(2).assign(day=[2019, 2021]), date="day"
    ).dates
    assert (dates.unit, set(dates.time.tolist())) == ("step", {2019, 2021})


@pytest.mark.parametrize(
    ("cells", "facts"),
    [
        (["2024-01-30", "30.01.2024", "1/30/24"], ("30", "01", "2024", "row 1")),
        ([None, None, "2024-05-31"], ("2 rows", "row 0")),
        (["03/04/2024"] * 3, ("'03/04/2024'", "row 0", "-05")),
        ([2019.5] * 3, ("2019", "row 0", "2024", "-05")),
        (["yesterday"] * 3, ("'yesterday'", "row 0", "2024", "-05")),
    ],
)
def test_other_dates_are_refused(cells, facts):
    frame = FRAME.head(3).assign(day=cells)
    with refused(DataError, *facts):
        th.PairedComparisons.from_trials(frame, date="day")


def test_every_row_is_there():
    found = counted(DATA)
    assert len(found) == 60
    for k, row in enumerate(FRAME.itertuples()):
        sides = row.model_a, row.model_b
        turned = DATA.labels.index(sides[0]) > DATA.labels.index(sides[1])
        first, second = sides[::-1] if turned else sides
        counts = found[19752 + k, first, second, row.judge, -row.length if turned else row.length]
        chosen = {"model_a": turned, "model_b": not turned, "tie": 2}[row.winner]
        assert counts == tuple(float(place == int(chosen)) for place in range(3))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.without_ties("half"),
        lambda data: data.with_covariates([]),
        lambda data: data.by_respondent()["x"],
    ],
)
def test_dates_go_with_what_is_made_of_comparisons(change):
    """What is changed and then divided is what is divided and then changed."""
    data = change(DATA)
    own = data.dates
    pair = np.searchsorted(data.first * 9 + data.second, own.first * 9 + own.second)
    for name in ("wins", "losses", "tied"):
        np.testing.assert_array_equal(
            np.bincount(pair, getattr(own, name), data.n_pairs), getattr(data, name)
        )
    person = np.bincount(own.respondent, own.wins + own.losses + own.tied, len(data.respondents))
    answers = data.answers
    np.testing.assert_array_equal(
        person,
        np.bincount(
            answers.respondent, answers.wins + answers.losses + answers.tied, len(data.respondents)
        ),
    )
    if data.covariates is not None:
        rest = data.covariates
        np.testing.assert_allclose(
            np.bincount(pair, own.x[:, 0] * own.wins, data.n_pairs),
            np.bincount(rest.pair, rest.values[:, 0] * rest.wins, data.n_pairs),
            atol=1e-12,
        )


def test_between_keeps_the_comparisons_of_both_ends():
    found = DATA.between("2024-02", "2024-03-05")
    kept = FRAME[(FRAME["day"] >= "2024-02-01") & (FRAME["day"] <= "2024-03-05")]
    again = th.PairedComparisons.from_trials(
        kept, covariates=["length"], date="day", labels=DATA.labels
    )
    assert counted(found) == counted(again)
    np.testing.assert_array_equal(found.wins, again.wins)
    np.testing.assert_array_equal(found.covariates.values, again.covariates.values)
    with refused(DataError, "ranges from 2024-01-30 to 2024-03-29"):
        DATA.between(since="2025")
    with refused(ArgumentError, "2024", "-05", "-31", "got 'soon'"):
        DATA.between(since="soon")


def test_further_comparisons_have_dates_too():
    halves = [
        th.PairedComparisons.from_trials(part, covariates=["length"], date="day")
        for part in (FRAME[:31], FRAME[29:])  # of two dates in both
    ]
    found = halves[0].with_more(halves[1])
    again = th.PairedComparisons.from_trials(
        pd.concat([FRAME[:31], FRAME[29:]]), covariates=["length"], date="day", labels=found.labels
    )
    assert counted(found) == counted(again)
    with refused(DataError, "comparisons have dates"):
        halves[0].with_more(halves[1].without_dates())


@pytest.mark.parametrize(
    "use",
    [
        lambda data: th.BradleyTerryLuce().fit(data),
        lambda data: th.EliminationByAspects("unique").fit(data),
        lambda data: th.EliminationByAspects("unique", method="maximum-likelihood").fit(data),
        lambda data: th.EliminationByAspects("ibp").fit(data.with_covariates([])),
        lambda data: th.paired.transitivity(data.without_ties("half").with_covariates([])),
        lambda data: th.leaderboard(data),
    ],
)
def test_models_without_dates_refuse_them(use):
    with refused(DataError, "'day'"):
        use(DATA)


def test_periods_are_those_of_the_calendar():
    number, names = DATA.dates.periods("week")
    assert names[:2] == ["2024-01-29", "2024-02-05"]
    assert np.unique(np.diff(np.sort(number))).tolist() == [0, 1]
    assert DATA.dates.periods("month")[1] == ["2024-01", "2024-02", "2024-03"]
    assert DATA.dates.periods("year")[1] == ["2024"]
