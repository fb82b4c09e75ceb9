"""Leaderboards of rankings, of choices from sets, and of the best and the worst of sets."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, says

import thali as th
from thali.errors import ArgumentError, DataError

pytestmark = [pytest.mark.fit, pytest.mark.usefixtures("few_draws")]
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
    return pd.DataFrame(
        [
            {"respondent": who} | {f"rank{k + 1}": o for k, o in enumerate(order)}
            for who, order in rows
        ]
    )


def long(rows=ROWS):
    """An option of a ranking a row."""
    columns = ["respondent", "task", "option", "rank"]
    every = [
        (who, number, option, k + 1)
        for number, (who, order) in enumerate(rows)
        for k, option in enumerate(order)
    ]
    return pd.DataFrame(every, columns=columns)


def best_worst(rows=ROWS):
    """A set a row, its best and its worst."""
    every = [(who, *sorted(order), order[0], order[-1]) for who, order in rows]
    items = [f"item{k + 1}" for k in range(len(rows[0][1]))]
    return pd.DataFrame(every, columns=["respondent", *items, "best", "worst"])


@pytest.mark.long
def test_all_sources_give_the_same():
    sources = [wide(), long(), th.Choices.from_rankings(wide(), respondent="respondent")]
    boards = [th.leaderboard(source, **QUIET) for source in sources]
    for board in boards:
        assert board.table.index[0] == "o0" and board.table.index[-1] == "o5"
        pd.testing.assert_frame_equal(
            board.table.sort_index(), boards[0].table.sort_index(), rtol=0.02
        )
    table = boards[0].table
    assert (table["comparisons"] == table["wins"] + table["losses"]).all() and not table[
        "ties"
    ].any()
    # three choices a ranking of four
    assert table["wins"].sum() == 3 * len(ROWS) == boards[0].data.n_answers
    together = boards[0].votes_by_pair()
    assert together.to_numpy().sum() == len(ROWS) * (4 * 3 + 3 * 2 + 2)


@pytest.mark.long
def test_judges_of_rankings_are_ordered_by_discrimination():
    board = th.leaderboard(wide(), judges=True, random_seed=1, **QUIET)
    judges = board.judges()
    assert judges.index[0] == "j4" and set(judges.index[-2:]) == {"j0", "j1"}
    assert judges["comparisons"].sum() == board.data.n_answers
    gain = judges["log_score"] - judges["log_score_chance"]
    assert gain["j4"] > 0.2 > gain["j0"]
    assert "those of the typical judge of this panel" in board.note
    assert [each.key for each in th.findings(board)][
        :5
    ] == "leaderboard groups votes reliability judges".split()


def probability(worth, order):
    """Luce's, of a ranking."""
    rest = np.cumsum([worth[option] for option in order[::-1]])[::-1]
    return np.prod([worth[option] / total for option, total in zip(order, rest, strict=True)])


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("answer", [wide, best_worst])
def test_the_others_predict_a_judge_as_without_the_judge(answer):
    """The best and the worst of a set are those of all rankings that begin and end with them."""
    how = {"judges": True, "judge_sd": 0.5, "spread": 1.3, "random_seed": 1, **QUIET}

    def score_by(board, name):
        """The mean log probability of the answers of somebody, by the worths of a board."""
        worth, found = board.table["worth"].to_dict(), []
        for order in (order for who, order in ROWS if who == name):
            middles = [tuple(order[1:-1])] if answer is wide else permutations(order[1:-1])
            alike = [probability(worth, [order[0], *middle, order[-1]]) for middle in middles]
            found.append(np.log(sum(alike)))
        return np.mean(found) / (3 if answer is wide else 1)

    board = th.leaderboard(answer(), **how)
    for name in ("j0", "j4"):
        without = th.leaderboard(answer([row for row in ROWS if row[0] != name]), **how)
        found = board.judges().loc[name, "log_score"]
        near, far = (abs(found - score_by(each, name)) for each in (without, board))
        assert near < 0.03 and near < 0.3 * far  # `far` knows the answers of the judge


@pytest.mark.first(1)
@pytest.mark.parametrize("judges", [False, True])
def test_an_update_equals_one_fit_of_all(judges, tmp_path):
    old = ROWS[:100:5]
    more = [("new", ["o6", "o0", "o1", "o2"])] * 3 + ROWS[100::5]
    whole = th.leaderboard(wide([*old, *more]), judges=judges, **QUIET)
    th.leaderboard(wide(old), judges=judges, **QUIET).save(tmp_path / "board.nc")
    updated = th.load(tmp_path / "board.nc").update(wide(more), **QUIET)
    one, other = (board.table.sort_index() for board in (whole, updated))
    np.testing.assert_allclose(one["rating"], other["rating"], atol=1e-6)
    if judges:
        pd.testing.assert_frame_equal(
            whole.judges().sort_index(), updated.judges().sort_index(), atol=1e-6
        )
    assert updated.data.respondents == ("j0", "j1", "j2", "j3", "new", "j4")
    unnamed = [wide(rows).drop(columns="respondent") for rows in (old, more, [*old, *more])]
    one, other, both = map(th.Choices.from_rankings, unnamed)
    assert one.with_more(other).respondents == both.respondents
    pairs = th.PairedComparisons.from_pairs([("o0", "o5")] * 4)
    plain = th.leaderboard(wide(old), **QUIET)
    assert plain.update(pairs, **QUIET).data.n_answers == 3 * len(old) + 4


def test_boards_of_parts_of_rankings():
    frame = wide().assign(language=np.where(np.arange(len(ROWS)) % 2, "de", "en"))
    board = th.leaderboard(frame, by="language", **QUIET)
    assert {name: part.data.n_answers for name, part in board.boards.items()} == {
        "de": 225,
        "en": 225,
    }
    with refused(DataError, "pool"):
        th.leaderboard(frame, by="language", pool=True, **QUIET)


@pytest.mark.parametrize(
    ("frame", "how", "error", "facts"),
    [
        (wide(), {"period": "week"}, DataError, ("period",)),
        (wide(), {"date": "respondent", "period": "week"}, ArgumentError, ("`date` does not",)),
        (wide(), {"judges": True, "judge_bias": True}, DataError, ("covariates of comparisons",)),
        (wide(), {"ranks": "x"}, ArgumentError, ("'ranks'",)),
        (best_worst(ranked(2, 8, 7)), {}, DataError, ("7 options",)),
    ],
)
def test_bad_rankings_and_settings_are_refused(frame, how, error, facts):
    with refused(error, *facts):
        th.leaderboard(frame, **how, **QUIET)


def test_choices_that_do_not_say_who_judged():
    frame = pd.DataFrame(
        {"set": [1, 1, 1, 2, 2], "option": list("abcab"), "chosen": [1, 0, 0, 0, 1]}
    )
    anonymous = th.Choices.from_frame(frame, choice_id="set", alternative="option", chosen="chosen")
    with refused(DataError, "`respondent`"):
        th.leaderboard(anonymous, judges=True, **QUIET)
    winners = th.Choices.from_rankings([["a", "b", "c"], ["a", "c", "b"]])
    with refused(DataError, "method='laplace'"):
        th.leaderboard(winners, method="maximum-likelihood", **QUIET)


TIED = pd.DataFrame(
    [("o0", "o5", "model_a")] * 9 + [("o0", "o5", "tie")] * 5,
    columns=["model_a", "model_b", "winner"],
)


@pytest.mark.long
@pytest.mark.first(2)
@pytest.mark.exact
@pytest.mark.parametrize(("ties", "answers"), [("half", 14), ("drop", 9)])
@pytest.mark.parametrize("pairs_first", [True, False])
def test_ties_of_pairs_count_as_asked_beside_rankings(ties, answers, pairs_first):
    sources = [TIED, wide(ROWS[:20])]
    one, other = sources if pairs_first else sources[::-1]
    updated = th.leaderboard(one, ties=ties, **QUIET).update(other, **QUIET)
    pairs = th.PairedComparisons.from_trials(TIED).without_ties(ties)
    whole = th.leaderboard(
        th.Choices.from_comparisons(pairs).with_more(th.Choices.from_rankings(wide(ROWS[:20])))
    )
    assert updated.data.n_answers == whole.data.n_answers == 3 * 20 + answers
    places = whole.table.index
    # other draws
    np.testing.assert_allclose(updated.table.loc[places, "rating"], whole.table["rating"], atol=3.0)


def test_what_choices_out_of_sets_do_not_have_is_said():
    with refused(DataError, "14 comparisons", "ties='half'"):
        th.leaderboard(wide(ROWS[:20]), **QUIET).update(TIED, **QUIET)
    described = TIED.assign(longer=np.arange(14) % 3, day=pd.date_range("2026-01-01", periods=14))
    for how, what in (
        ({"covariates": ["longer"]}, "the covariate 'longer'"),
        ({"date": "day"}, "dates"),
    ):
        pairs = th.PairedComparisons.from_trials(described, **how)
        with refused(DataError, "combined with choices", what):
            th.leaderboard(wide(ROWS[:20]), ties="half", **QUIET).update(pairs, **QUIET)


def identified(rows, begin=0):
    """An option of a ranking a row, with an identifier of each ranking."""
    return long(rows).assign(
        task=lambda t: t["task"] + begin, vote=lambda t: "v" + t["task"].astype(str)
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "kind",
    [
        "rankings",
        pytest.param("choices", marks=pytest.mark.long),
        pytest.param("best and worst", marks=pytest.mark.long),
    ],
)
def test_an_identifier_belongs_to_an_answer_of_several_rows(kind):
    def table(rows, begin=0):
        frame = identified(rows, begin)
        if kind == "choices":
            frame = frame.assign(choice=(frame["rank"] == 1).astype(int)).drop(columns="rank")
        elif kind == "best and worst":
            frame = frame.assign(
                best=(frame["rank"] == 1).astype(int), worst=(frame["rank"] == 4).astype(int)
            )
            frame = frame.drop(columns="rank")
        return frame

    whole, old = (th.leaderboard(table(rows), id="vote", **QUIET) for rows in (ROWS, ROWS[:100]))
    assert (
        whole.data.n_answers == (3 if kind == "rankings" else 1) * len(ROWS)
        and "left out" not in whole.note
    )
    new = old.update(table(ROWS[90:], 90), **QUIET)
    assert "answers whose identifier" in new.note and "10 answers" in new.note
    np.testing.assert_allclose(
        new.table.sort_index()["rating"], whole.table.sort_index()["rating"], atol=3.0
    )
    twice = th.leaderboard(pd.concat([table(ROWS[:100]), table(ROWS[90:], 90)]), id="vote", **QUIET)
    assert (
        twice.data.n_answers == whole.data.n_answers and "10 answers whose identifier" in twice.note
    )
    with refused(DataError, "10 votes", "'vote'"):
        new.update(table(ROWS[:10]))
    with refused(DataError, "the table has"):
        new.update(table(ROWS[:10])[:0])


def test_an_answer_is_known_or_not():
    frame = identified(ROWS).assign(row=range(4 * len(ROWS)))
    board = th.leaderboard(frame[:402], id="row", **QUIET)
    new = board.update(frame[392:400].pipe(lambda t: pd.concat([t, frame[404:]])), **QUIET)
    assert "2 answers whose identifier" in new.note
    with refused(DataError, "rows 0", "2 belong", "'row'", "row 0"):
        board.update(frame[400:].reset_index(drop=True), **QUIET)


def test_votes_of_the_same_person_are_told_apart():
    frame = identified(ROWS).drop(columns="task")
    assert th.leaderboard(frame, id="vote", **QUIET).data.n_answers == 3 * len(ROWS)
    with refused(DataError, "'task'"):
        th.leaderboard(frame.drop(columns="vote"), **QUIET)


# Ties in rankings ---------------------------------------------------------------------------------


JUDGED = [(1, 2, 2, 4), (2, 1, 3, 3), (3, 1, 1, 4), (1, 4, 2, 2), (2, 3, 1, 4), (4, 2, 3, 1)]
# 4: did not finish
RACES = [(1, 2, 3, 4, 4), (3, 1, 2, 4, 4), (2, 1, 4, 4, 3), (4, 2, 1, 3, 4), (2, 4, 4, 1, 3)]


def worths_of(rows, **settings):
    data = th.Choices.from_rankings(pd.DataFrame(rows, columns=list("ABCDE")[: len(rows[0])]))
    return (
        th.leaderboard(data, method="maximum-likelihood", **settings, **QUIET)
        .table["worth"]
        .sort_index()
    )


def test_maximum_likelihood_of_tied_rankings_equals_known_values():
    """The sum over all orders that ties leave open; where they are last, as choix.opt_top1 of choix
    0.4.1."""
    assert worths_of(JUDGED).tolist() == pytest.approx(
        [0.32679, 0.26020, 0.32607, 0.08694], abs=6e-6
    )
    assert worths_of(RACES).tolist() == pytest.approx(
        [0.26490, 0.39124, 0.16550, 0.09446, 0.08390], abs=6e-6
    )


def test_boards_of_tied_rankings_agree_between_methods():
    data = th.Choices.from_rankings(pd.DataFrame(JUDGED * 3, columns=list("ABCD")))
    board = th.leaderboard(data, **QUIET)
    table = board.table
    # each of two that tie came before the others
    assert table["wins"].sum() == 14 * 3 + data.n_ties
    assert table.loc["D", "rank"] == 4 and board.people.model == "adjusted"
    chains = th.leaderboard(data, people="independent", lapse=0.02, **QUIET).table
    assert np.abs(chains["rating"] - table["rating"]).max() < 60.0
    with refused(DataError, "'half'"):
        th.leaderboard(data, ties="half", **QUIET)


def test_maximum_likelihood_needs_a_way_down_to_those_that_tie():
    with refused(DataError, "c"):
        th.leaderboard(
            th.Choices.from_rankings(["a = b > c", "b > a > c"]),
            method="maximum-likelihood",
            **QUIET,
        )
    # b comes before another as part of a tie
    both = th.Choices.from_rankings(["a = b > c", "c > a = b", "a > b = c"])
    assert th.leaderboard(both, method="maximum-likelihood", **QUIET).table.index[0] == "a"


def test_judges_of_tied_rankings_have_finite_results():
    rows = [
        (f"j{k % 2}", k, option, rank)
        for k, row in enumerate(JUDGED * 2)
        for option, rank in enumerate(row)
    ]
    frame = pd.DataFrame(rows, columns=["respondent", "task", "option", "rank"])
    board = th.leaderboard(frame, judges=True, **QUIET)
    assert board.judges()["comparisons"].sum() == 14 * 2 and "ties in rankings" in board.note
    assert np.isfinite(board.judges()).all().all()


def test_the_check_says_that_it_does_not_cover_ties():
    data = th.Choices.from_rankings(pd.DataFrame(JUDGED * 3, columns=list("ABCD")))
    board = th.leaderboard(data, **QUIET)
    says(th.findings(board)["check"].sentence, "9 ties in rankings")
    assert len(board.of_check) == board.data.questions().sizes.sum()
    alone = th.leaderboard(
        th.Choices.from_rankings(["a = b > c", "c = b > a", "a = c > b"] * 4), **QUIET
    )
    assert alone.table["comparisons"].tolist() == [12, 12, 12]
    says(th.findings(alone)["check"].sentence, "is a tie in a ranking")


def test_few_ties_have_a_leaderboard_by_maximum_likelihood():
    """Where the information about two options that only tied is singular."""
    data = th.Choices.from_rankings(["a = b > c", "c > a = b"])
    board = th.leaderboard(data, method="maximum-likelihood", **QUIET)
    assert board.table["rating"].between(900, 1100).all() and board.more_votes().notna().all(
        axis=None
    )
