"""Leaderboards of rankings, of choices out of sets, and of the best and the worst of sets."""

import numpy as np
import pandas as pd
import pytest

import thali as th
from thali.aspects.worths.density import Spreads
from thali.aspects.worths.laplace import highest
from thali.errors import ArgumentError, DataError
from thali.paired.worths import Asked, posed

pytestmark = pytest.mark.fit
QUIET = {"progressbar": False}


def ranked(each=30, options=6, size=4, judges=5, spread=1.0, seed=0):
    """Who ranked which options, the best first: the last judge is the sharpest."""
    rng, worth = np.random.default_rng(seed), np.linspace(0.9, -0.9, options)
    found = []
    for judge, d in enumerate(np.exp(spread * np.linspace(-1, 1, judges))):
        for _ in range(each):
            offered = rng.permutation(options)[:size]
            order = offered[np.argsort(-(d * worth[offered] + rng.gumbel(size=size)))]
            found.append((f"j{judge}", [f"o{k}" for k in order]))
    return found


ROWS = ranked()


def wide(rows=ROWS):
    """A ranking a row, a column a rank."""
    return pd.DataFrame([{"subject": who} | {f"rank{k + 1}": o for k, o in enumerate(order)} for who, order in rows])


def long(rows=ROWS):
    """An option of a ranking a row."""
    columns = ["subject", "task", "option", "rank"]
    every = [(who, number, option, k + 1) for number, (who, order) in enumerate(rows) for k, option in enumerate(order)]
    return pd.DataFrame(every, columns=columns)


def best_worst(rows=ROWS):
    """A set a row, its best and its worst."""
    every = [(who, *sorted(order), order[0], order[-1]) for who, order in rows]
    items = [f"item{k + 1}" for k in range(len(rows[0][1]))]
    return pd.DataFrame(every, columns=["subject", *items, "best", "worst"])


def test_all_sources_give_the_same(tmp_path):
    wide().to_csv(tmp_path / "rankings.csv", index=False)
    sources = [wide(), long(), tmp_path / "rankings.csv", th.Choices.from_rankings(wide(), respondent="subject")]
    boards = [th.leaderboard(source, **QUIET) for source in sources]
    for board in boards:
        assert board.table.index[0] == "o0" and board.table.index[-1] == "o5"
        pd.testing.assert_frame_equal(board.table.sort_index(), boards[0].table.sort_index(), rtol=0.02)
    table = boards[0].table
    assert (table["comparisons"] == table["wins"] + table["losses"]).all() and not table["ties"].any()
    assert table["wins"].sum() == 3 * len(ROWS) == boards[0].data.n_answers  # three choices a ranking of four
    together = boards[0].votes_by_pair()
    assert together.to_numpy().sum() == len(ROWS) * (4 * 3 + 3 * 2 + 2)


@pytest.mark.parametrize("frame", [wide(), best_worst()], ids=["rankings", "best and worst"])
def test_it_is_the_posterior_of_luces_model(frame):
    """Laplace's approximation is near the chains of `EliminationByAspects`, and the estimates are its estimates."""
    how = {"people": "independent", **QUIET}
    laplace, chains, estimates = (
        th.leaderboard(frame, method=method, **how) for method in ("laplace", "mcmc", "maximum-likelihood")
    )
    chains_table = chains.table.loc[laplace.table.index]
    np.testing.assert_allclose(laplace.table["rating"], chains_table["rating"], atol=6)
    np.testing.assert_allclose(laplace.table["rating_low"], chains_table["rating_low"], atol=12)
    model = th.EliminationByAspects("unique", lapse=0.0, method="maximum-likelihood")
    weights = model.fit(estimates.data, progressbar=False).weights_
    np.testing.assert_allclose(estimates.table["worth"], weights[estimates.table.index], rtol=1e-5)


def test_best_and_worst_of_three_are_rankings():
    rows = ranked(size=3)
    one, other = (th.leaderboard(frame, **QUIET) for frame in (wide(rows), best_worst(rows)))
    np.testing.assert_allclose(one.table["rating"], other.table.loc[one.table.index, "rating"], atol=1.0)  # draws
    table = other.table
    assert table["wins"].sum() == table["losses"].sum() == table["ties"].sum() == len(rows)
    assert "best-worst choices" in other.title and "choices" in one.title


@pytest.mark.parametrize("frame", [wide(), best_worst()], ids=["rankings", "best and worst"])
def test_judges_of_rankings(frame):
    board = th.leaderboard(frame, judges=True, **QUIET)
    judges = board.judges()
    assert judges.index[0] == "j4" and set(judges.index[-2:]) == {"j0", "j1"}
    assert judges["comparisons"].sum() == board.data.n_answers
    gain = judges["log_score"] - judges["log_score_chance"]
    assert gain["j4"] > 0.2 > gain["j0"]
    assert "that a judge of discrimination 1 sees" in board.note
    assert [each.key for each in th.findings(board)][:4] == ["leaderboard", "groups", "votes", "judges"]


@pytest.mark.long
def test_judges_by_laplace_and_by_chains():
    one, other = (th.leaderboard(wide(), judges=True, method=method, **QUIET) for method in ("laplace", "mcmc"))
    np.testing.assert_allclose(one.table["rating"], other.table.loc[one.table.index, "rating"], atol=12)
    logs = [board.judges()["log_discrimination"].sort_index() for board in (one, other)]
    np.testing.assert_allclose(*(each - each.mean() for each in logs), atol=0.05)


@pytest.mark.parametrize("frame", [wide(), best_worst()], ids=["rankings", "best and worst"])
def test_the_others_predict_a_judge_as_without_the_judge(frame):
    board = th.leaderboard(frame, judges=True, judge_sd=0.5, **QUIET)
    pose = posed(board.data, Asked(judges=True, judge_sd=0.5), 0.0)
    density = pose.density
    for judge, name in enumerate(pose.judges):
        own = density.rows.judge == judge
        rest = density.with_answers(np.where(own, 0.0, density.rows.counts))
        point = highest(rest, Spreads.of(0.5, None), tilt=5.0).point
        point[density.judges] = 0.0
        score = density.by_row(point[:, None])[own].sum() / density.rows.counts[own].sum()
        assert board.judges().loc[name, "log_score"] == pytest.approx(score, abs=1e-4)


@pytest.mark.parametrize("judges", [False, True])
def test_an_update_equals_one_fit_of_all(judges, tmp_path):
    more = [("new", ["o6", "o0", "o1", "o2"])] * 3 + ROWS[100:]
    whole = th.leaderboard(wide([*ROWS[:100], *more]), judges=judges, **QUIET)
    th.leaderboard(wide(ROWS[:100]), judges=judges, **QUIET).save(tmp_path / "board.nc")
    updated = th.load(tmp_path / "board.nc").update(wide(more), **QUIET)
    one, other = (board.table.sort_index() for board in (whole, updated))
    np.testing.assert_allclose(one["rating"], other["rating"], atol=1e-6)
    if judges:
        pd.testing.assert_frame_equal(whole.judges().sort_index(), updated.judges().sort_index(), atol=1e-6)
    assert updated.data.respondents == ("j0", "j1", "j2", "j3", "new", "j4")
    unnamed = [wide(rows).drop(columns="subject") for rows in (ROWS[:100], more, [*ROWS[:100], *more])]
    one, other, both = map(th.Choices.from_rankings, unnamed)
    assert one.with_more(other).respondents == both.respondents
    pairs = th.PairedComparisons.from_pairs([("o0", "o5")] * 4)
    assert th.leaderboard(wide(), **QUIET).update(pairs, **QUIET).data.n_answers == 3 * len(ROWS) + 4


def test_boards_of_parts_of_rankings():
    frame = wide().assign(language=np.where(np.arange(len(ROWS)) % 2, "de", "en"))
    board = th.leaderboard(frame, by="language", **QUIET)
    assert {name: part.data.n_answers for name, part in board.boards.items()} == {"de": 225, "en": 225}
    with pytest.raises(DataError, match="pool is for boards of comparisons of two, and these are choices out of sets"):
        th.leaderboard(frame, by="language", pool=True, **QUIET)


@pytest.mark.parametrize(
    ("frame", "how", "error", "expected"),
    [
        (wide(), {"period": "week"}, DataError, "period is about comparisons with dates, and these have none"),
        (wide(), {"date": "subject", "period": "week"}, ArgumentError, "date says nothing of this table"),
        (wide(), {"judges": True, "judge_bias": True}, DataError, "is about covariates of comparisons"),
        (wide(), {"ranks": "x"}, ArgumentError, "There is no argument 'ranks'"),
        (
            best_worst(ranked(2, 8, 7)),
            {},
            DataError,
            "The best and the worst of 7 options were chosen, and a leaderboard",
        ),
    ],
)
def test_what_is_refused(frame, how, error, expected):
    with pytest.raises(error, match=expected):
        th.leaderboard(frame, **how, **QUIET)


def test_choices_that_do_not_say_who_judged():
    frame = pd.DataFrame({"set": [1, 1, 1, 2, 2], "option": list("abcab"), "chosen": [1, 0, 0, 0, 1]})
    anonymous = th.Choices.from_frame(frame, choice_id="set", alternative="option", chosen="chosen")
    with pytest.raises(DataError, match="These choices do not say who judged; name the column of judges by `subject`"):
        th.leaderboard(anonymous, judges=True, **QUIET)
    winners = th.Choices.from_rankings([["a", "b", "c"], ["a", "c", "b"]])
    with pytest.raises(DataError, match="set method='laplace', whose prior keeps it finite"):
        th.leaderboard(winners, method="maximum-likelihood", **QUIET)
