"""Leaderboards: worths, ranks, groups, and every source that they are read from."""

import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.places import PROJECT
from helpers.sentences import refused, said, warned
from scipy.special import expit, ndtr, ndtri

import thali as th
from thali._number_format import format_probability
from thali._paired.vote_forecast import forecast_separation, vote_information
from thali.errors import ArgumentError, DataError, DataWarning

# 400 draws by Laplace's approximation and 39 replicates of a test of fit
pytestmark = pytest.mark.usefixtures("few_replicates", "few_draws")
ROWS = [
    ("A", "B", "model_a"),
    ("A", "B", "tie"),
    ("B", "C", "model_a"),
    ("A", "C", "tie (bothbad)"),
]
ROWS += [("C", "B", "model_a"), ("B", "A", "model_a"), ("C", "D", "model_b"), ("D", "A", "model_b")]
BATTLES = pd.DataFrame(5 * ROWS, columns=["model_a", "model_b", "winner"])


def board_of(source=BATTLES, **settings):
    return th.leaderboard(source, progressbar=False, **settings)


@pytest.fixture(scope="module")
def board():
    return board_of()


def test_the_table_counts_outcomes_and_orders_by_rating(board):
    table = board.table
    assert list(table["rank"]) == [1, 2, 3, 4] and table["rating"].is_monotonic_decreasing
    assert table.loc["A", ["comparisons", "wins", "losses", "ties"]].tolist() == [25, 10, 5, 10]
    assert table["comparisons"].sum() == 2 * len(BATTLES)
    assert (table["rank_low"] <= table["rank"]).all() and (
        table["rank"] <= table["rank_high"]
    ).all()
    for name in ("rating", "worth"):
        assert ((table[f"{name}_low"] < table[name]) & (table[name] < table[f"{name}_high"])).all()
    assert table["worth"].sum() == pytest.approx(1.0) and table["rating"].mean() == pytest.approx(
        1000.0
    )
    np.testing.assert_allclose(board.order + board.order.T, 1.0 - np.eye(4))


@pytest.mark.fit
def test_the_first_sentence_says_who_is_first_and_how_sure_that_is(board):
    first = board.table.index[0]
    assert board.table["p_1"].sum() == pytest.approx(1.0) and board.table["p_1"].idxmax() == first
    sentence = th.findings(board)["leaderboard"].sentence
    alike = [option for option in board.table.index[1:] if board.order.loc[first, option] < 0.95]
    ends = f"{', '.join(alike[:-1])} and {alike[-1]} cannot be distinguished"
    assert sentence.startswith(f"{first} ranks first (probability 0.") and len(alike) > 1
    said(sentence, ends)
    clear = th.leaderboard(
        th.PairedComparisons.from_pairs([("A", "B"), ("B", "C")] * 40), progressbar=False
    )
    sentence = th.findings(clear)["leaderboard"].sentence
    said(sentence, "A ranks first", "99")


CERTAIN = 0.95  # from here on an order is told


def round_robin(options, judgements, seed):
    """Each pair judged so often, of options of growing worth."""
    rng, worth = np.random.default_rng(seed), np.linspace(0.0, 3.0, options)
    wins = rng.binomial(judgements, 1.0 / (1.0 + np.exp(worth[None, :] - worth[:, None])))
    upper = np.triu(wins, 1)
    return th.PairedComparisons(upper + np.tril(judgements - upper.T, -1))


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize(("options", "judgements"), [(2, 3), (7, 6), (7, 40), (30, 2), (30, 20)])
def test_two_share_a_group_if_and_only_if_they_cannot_be_told_apart(options, judgements):
    board = board_of(round_robin(options, judgements, 1), people="independent")
    order = board.order.to_numpy()
    place = {option: row for row, option in enumerate(board.order.index)}
    together = np.zeros(order.shape, bool)
    for members in board.groups:
        rows = [place[option] for option in members]
        together[np.ix_(rows, rows)] = True
    expected = np.maximum(order, order.T) < CERTAIN
    np.fill_diagonal(expected, True)
    np.testing.assert_array_equal(together, expected)
    assert len({tuple(members) for members in board.groups}) == len(board.groups)

    for option, numbers in board.table["tier"].items():
        ends = [[int(end) for end in part.split("-")] for part in numbers.split(", ")]
        own = [number for each in ends for number in range(each[0], each[-1] + 1)]
        assert own == [
            number for number, members in enumerate(board.groups, 1) if option in members
        ]
    if options == 2:
        assert order[0, 1] == board.table["p_1"].iloc[0]


@pytest.mark.fit
def test_maximum_likelihood_gives_davidsons_estimates():
    table = board_of(method="maximum-likelihood").table
    fit = th.paired.davidson(th.PairedComparisons.from_trials(BATTLES))
    np.testing.assert_allclose(table["worth"], fit.weights[table.index], rtol=1e-6)
    odds = fit.weights["A"] / fit.weights["C"]
    assert table.loc["A", "rating"] - table.loc["C", "rating"] == pytest.approx(
        400 * np.log10(odds), rel=1e-6
    )


@pytest.mark.fit
def test_options_of_the_same_record_stand_in_their_order():
    """Three kinds of three options: each kind has the same wins, and the optimiser's last digits
    differ."""
    wins = np.kron([[5, 1, 8], [2, 5, 7], [3, 6, 5]], np.ones((3, 3), int))
    np.fill_diagonal(wins, 0)
    found = board_of(th.PairedComparisons(wins, list("abcdefghi")), method="maximum-likelihood")
    groups = found.table.groupby(found.table["rating"].round(6), sort=False)
    assert [sorted(group.index) for _, group in groups] == [
        list(group.index) for _, group in groups
    ]
    assert len(groups) == 3


@pytest.mark.long
@pytest.mark.fit
def test_ties_count_as_asked():
    halves = th.EliminationByAspects("unique", method="maximum-likelihood", ties="half")
    halves = halves.fit(th.PairedComparisons.from_trials(BATTLES)).maximum_likelihood.weights()
    table = board_of(ties="half", method="maximum-likelihood").table
    np.testing.assert_allclose(table["worth"], halves[table.index], rtol=1e-6)
    assert np.isnan(board_of(ties="drop").tie) and board_of().tie > 0


def same(one, other):
    pd.testing.assert_frame_equal(
        one.table.sort_index(), other.table.sort_index(), rtol=0.05, atol=2
    )
    assert one.data.n_comparisons == other.data.n_comparisons


@pytest.mark.fit
def test_all_sources_give_the_same(tmp_path):
    quick = {"method": "maximum-likelihood"}
    board = board_of(**quick)
    BATTLES.to_csv(tmp_path / "battles.csv", index=False)
    data = th.PairedComparisons.from_trials(BATTLES)
    renamed = BATTLES.rename(columns={"model_a": "x", "model_b": "y", "winner": "z"})
    for source in (data, tmp_path / "battles.csv", str(tmp_path / "battles.csv"), data.to_frame()):
        found = board_of(source, **quick)
        assert found.table.equals(board.table) or same(found, board) is None
    coding = {"model_a": "first", "model_b": "second", "tie": "tie", "tie (bothbad)": "tie"}
    assert board_of(
        renamed, first="x", second="y", chosen="z", coding=coding, **quick
    ).table.equals(board.table)


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_who_never_lost_and_who_was_never_compared_have_finite_worths():
    rows = [("A", "B"), ("A", "C"), ("B", "C"), ("C", "B")] * 3
    board = board_of(th.PairedComparisons.from_pairs(rows))
    assert np.isfinite(board.table[["rating", "rating_low", "rating_high"]].to_numpy()).all()
    assert "A was never beaten" in board.note and board.table.index[0] == "A"
    with refused(DataError, "method='laplace'"):
        board_of(th.PairedComparisons.from_pairs(rows), method="maximum-likelihood")
    apart = th.PairedComparisons.from_pairs([*rows, ("X", "Y"), ("Y", "X")], labels=list("ABCXYZ"))
    with warned(DataWarning, "never compared"):
        board = board_of(apart)
    assert (
        np.isfinite(board.table["rating"]).all()
        and "3 groups that were never compared" in board.note
    )
    # of pairs that nothing connects the prior knows nothing, and neither does the table
    assert any({"Y", "Z"} <= set(members) for members in board.groups)


@pytest.mark.long
@pytest.mark.exact
@pytest.mark.fit  # for its time
def test_the_seed_decides_the_draws(board):
    assert board_of().table.equals(board.table)
    assert not board_of(random_seed=1).table.equals(board.table)


def test_a_leaderboard_is_saved_as_csv_and_json(board, tmp_path):
    board.save(tmp_path / "board.csv")
    board.save(tmp_path / "board.json")
    again = pd.read_csv(tmp_path / "board.csv", index_col="option", dtype={"tier": str})
    pd.testing.assert_frame_equal(again, pd.DataFrame(board.table))
    rows = json.loads((tmp_path / "board.json").read_text())
    assert [row["option"] for row in rows] == list(board.table.index) and rows[0]["rank"] == 1
    with refused(DataError, "must end"):
        board.save(tmp_path / "board.doc")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board.csv", "board.json"]


@pytest.mark.usefixtures("pictures")
def test_a_leaderboard_is_drawn(board):
    pytest.importorskip("matplotlib").use("Agg")
    ratings, ranks, right = th.plots.leaderboard(board.table)
    assert [label.get_text() for label in ratings.get_yticklabels()] == list(board.table.index)
    assert ranks.has_data() and right.has_data() == any(
        len(members) > 1 for members in board.groups
    )


@pytest.mark.parametrize(
    ("rows", "facts"),
    [
        (
            [("A", "B", "model_a"), ("A", "B", "modle_a"), ("B", "A", "modle_a")],
            ("'modle_a'", "row 1", "1 more", "'model_a'"),
        ),
        ([("A", "A", "model_a")], ("compared with itself",)),
        ([("A", "B", None)], ("no answers",)),
    ],
)
def test_bad_battles_are_refused(rows, facts):
    with refused(DataError, *facts):
        board_of(pd.DataFrame(rows, columns=["model_a", "model_b", "winner"]))


def test_bad_sources_and_settings_are_refused(tmp_path):
    with refused(DataError, "'model_a'", "'model_b'"):
        board_of(BATTLES[["model_a", "model_b"]])
    (tmp_path / "empty.csv").write_text("")
    with refused(DataError, "empty.csv: The file"):
        board_of(tmp_path / "empty.csv")
    with refused(ArgumentError, "method"):
        board_of(method="mle")
    with refused(ArgumentError, "ties"):
        board_of(ties="ignore")


# Covariates ---------------------------------------------------------------------------------------


def styled(battles=4000, seed=1, ties=False):
    """Battles of five models of growing worth; the longer answer is liked, and better models write
    shorter ones."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 5, battles), rng.integers(1, 5, battles)
    b = (a + b) % 5
    length = np.round((b - a) * 0.5 + rng.normal(size=battles), 1)
    p = 1.0 / (1.0 + np.exp(-(0.4 * (a - b) + 0.8 * length)))
    won = np.where(rng.random(battles) < p, "model_a", "model_b")
    if ties:
        won[rng.random(battles) < 0.2] = "tie"
    rows = dict(model_a=np.array(list("ABCDE"))[a], model_b=np.array(list("ABCDE"))[b], winner=won)
    return pd.DataFrame(rows | {"length": length})


@pytest.mark.long
@pytest.mark.fit
@pytest.mark.parametrize("method", ["laplace", "maximum-likelihood"])
@pytest.mark.parametrize("ties", [False, True])
def test_ranks_are_those_of_options_alike_in_style(method, ties):
    battles = styled(ties=ties)
    board, plain = (board_of(battles, method=method, covariates=c) for c in (["length"], None))
    effect = board.covariate_effects().loc["length"]
    assert effect["low"] < effect["effect"] < effect["high"]
    assert ties or abs(effect["effect"] - 0.8) < 0.2  # of which the standard error is .04
    assert list(board.table.index) == list("EDCBA")
    np.testing.assert_allclose(
        board.table["rating_without"], plain.table.loc[board.table.index, "rating"], atol=5
    )
    assert board.table["rank_without"].to_dict() == plain.table["rank"].to_dict()
    assert plain.effects is None and "rating_without" not in plain.table
    with refused(DataError, "has no covariates"):
        plain.covariate_effects()


@pytest.mark.fit
@pytest.mark.parametrize("name", ["rating", "worth", "effect"])
def test_intervals_of_a_board_have_the_probability_asked_for(name):
    """Draws around an estimate are normal, so widths are those of normal quantiles."""
    battles = styled(1000)
    widths = []
    for ci in (0.5, 0.95):
        board = board_of(battles, method="maximum-likelihood", covariates=["length"], ci=ci)
        if name == "effect":
            effects = board.covariate_effects()
            widths.append(effects["high"] - effects["low"])
        else:
            widths.append(board.table[f"{name}_high"] - board.table[f"{name}_low"])
    # from 1000 draws the ratio of two widths has a standard error of 4 %
    np.testing.assert_allclose(widths[1] / widths[0], ndtri(0.975) / ndtri(0.75), rtol=0.2)


@pytest.mark.fit
@pytest.mark.parametrize("ci", [0.333, 0.555, 0.777])  # ends between shares of draws
def test_intervals_of_ranks_have_the_probability_asked_for(ci):
    table = board_of(method="maximum-likelihood", ci=ci).table
    for end, tail in (("low", (1 - ci) / 2), ("high", (1 + ci) / 2)):
        np.testing.assert_array_equal(table[f"rank_{end}"] == 1, table["p_1"] >= tail)


@pytest.mark.fit
def test_estimates_with_covariates_are_those_of_a_logit():
    """A logistic regression on indicators of options and the covariate, by Newton steps."""
    battles = styled(600)
    labels = list("ABCDE")
    x = np.zeros((len(battles), 6))
    rows = np.arange(len(x))
    x[rows, battles["model_a"].map(labels.index)] = 1.0
    x[rows, battles["model_b"].map(labels.index)] -= 1.0
    x[:, 5] = battles["length"]
    y, beta = (battles["winner"] == "model_a").to_numpy(float), np.zeros(5)
    for _ in range(30):
        p = 1.0 / (1.0 + np.exp(-x[:, 1:] @ beta))
        beta += np.linalg.solve((x[:, 1:].T * (p * (1.0 - p))) @ x[:, 1:], x[:, 1:].T @ (y - p))
    board = board_of(battles, method="maximum-likelihood", covariates="length")
    assert board.covariate_effects().loc["length", "effect"] == pytest.approx(beta[4], abs=1e-7)
    ratings = board.table["rating"][labels]
    np.testing.assert_allclose(
        ratings[1:] - ratings["A"], 400.0 / np.log(10.0) * beta[:4], atol=1e-5
    )


@pytest.mark.fit
def test_covariates_of_every_source(tmp_path):
    battles = styled(200)
    quick = {"method": "maximum-likelihood", "covariates": ["length"]}
    board = board_of(battles, **quick)
    battles.to_csv(tmp_path / "battles.csv", index=False)
    data = th.PairedComparisons.from_trials(battles, covariates=["length", "order"])
    for source in (tmp_path / "battles.csv", data):
        assert board_of(source, **quick).table.equals(board.table)
    both = board_of(data, method="maximum-likelihood").covariate_effects()
    assert list(both.index) == ["length", "order"]
    assert board_of(data, method="maximum-likelihood", covariates=[]).effects is None


@pytest.mark.fit
@pytest.mark.parametrize(
    ("change", "covariates", "facts"),
    [
        ({"length": 1.0}, ["length"], ("'length'",)),
        ({"length": np.nan}, ["length"], ("'length'",)),
        ({}, ["lenght"], ("column 'lenght'",)),
        (
            {"won": lambda t: np.where(t["winner"] == "model_a", 1, -2)},
            ["won"],
            ("'won'", "60 comparisons"),
        ),
        ({"won": lambda t: 1 * (t["winner"] == "model_a")}, ["won"], ("'won'",)),
        ({"won": lambda t: 0.5 + (t["winner"] == "model_b")}, ["won"], ("'won'",)),
        (
            {"won": lambda t: t["length"].rank() + 99 * (t["winner"] == "model_a")},
            ["won"],
            ("'won' alone",),
        ),
        ({"won": lambda t: "by " + t["winner"]}, ["won"], ("'won=by model_b'",)),
        ({}, ["winner"], ("a covariate",)),
        ({}, ["length", "length"], ("listed twice",)),
    ],
)
def test_bad_covariates_are_refused(change, covariates, facts):
    with refused(DataError, *facts):
        board_of(styled(60).assign(**change), covariates=covariates)


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("ties", ["davidson", "half"])
def test_a_column_of_the_outcome_is_refused_of_few_comparisons(ties):
    """Of 15 with ties, and of 8; of 7 it may be chance."""
    battles = styled(15).assign(winner=["model_a", "model_b", "model_a"] * 5)
    battles["won"] = 1 * (battles["winner"] == "model_a")
    battles = pd.concat([battles, battles[:3].assign(winner="tie", won=0)])
    with refused(DataError, "'won'", "15 comparisons"):
        board_of(battles, covariates=["won"], ties=ties)
    assert board_of(battles[:7], covariates=["won"], ties=ties).effects is not None


@pytest.mark.fit
def test_a_rare_covariate_that_goes_with_every_choice_is_good_data():
    battles = styled(600).assign(free=lambda t: 1 * (t.index < 40) * (t["winner"] == "model_a"))
    many = int(battles["free"].sum())
    with warned(DataWarning, "'free'", f"({many} of", "600 comparisons", "without ties)"):
        assert board_of(battles, covariates=["free"]).covariate_effects().loc["free", "low"] > 0.0
    battles.loc[0, "winner"] = "model_b"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        battles = battles.assign(free=1 * (battles.index < 40), far=battles["length"] + 99)
        board_of(battles, covariates=["free", "far"], method="maximum-likelihood")


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("named", [["len"], ["len_a", "len_b"], ["len_b"]])
def test_what_either_side_has_is_first_minus_second(named):
    quick = {"method": "maximum-likelihood"}
    battles = styled(300).assign(
        len_a=lambda t: (3 * t["length"]).round(), len_b=lambda t: -t["length"].round()
    )
    expected = battles.assign(length=battles["len_a"] - battles["len_b"])
    effect = (
        board_of(expected, covariates=["length"], **quick)
        .covariate_effects()
        .loc["length", "effect"]
    )
    found = board_of(battles, covariates=named, **quick).covariate_effects()["effect"]
    assert found.to_dict() == {"len_a - len_b": pytest.approx(effect)}
    sides = {"first": "model_b", "second": "model_a"}
    turned = board_of(battles, covariates=named, **sides, **quick).covariate_effects()["effect"]
    assert turned.to_dict() == {"len_b - len_a": pytest.approx(effect)}
    with refused(DataError, "'len_a'", "'x'"):
        board_of(battles.assign(len_a="x"), covariates=named, **quick)


def test_both_sides_of_a_file_are_read(tmp_path):
    battles = styled(300).assign(
        len_a=lambda t: (3 * t["length"]).round(), len_b=lambda t: -t["length"].round()
    )
    battles.to_csv(tmp_path / "battles.csv", index=False)
    how = {"method": "maximum-likelihood", "covariates": "len"}
    one, other = (
        board_of(source, **how).covariate_effects()
        for source in (tmp_path / "battles.csv", battles)
    )
    pd.testing.assert_frame_equal(one, other, rtol=1e-6)


def test_votes_counted_in_batches_as_the_page_does_give_the_same_board(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (PROJECT / "docs" / "doors" / "leaderboards.md").read_text("utf-8")
    (code,) = re.findall(r"```{code-cell}\n([^`]*chunksize[^`]*)```", page)
    BATTLES.to_csv("battles.csv", index=False)
    names = {"pd": pd, "th": th}
    exec(code.replace("1_000_000", "7"), names)
    assert len(names["counted"]) < len(BATTLES)
    how = {"method": "maximum-likelihood", "progressbar": False}
    one, other = (th.leaderboard(votes, **how) for votes in (names["counted"], BATTLES))
    pd.testing.assert_frame_equal(one.table, other.table.loc[one.table.index], rtol=1e-6)


@pytest.mark.fit
def test_covariates_that_are_worths_have_no_estimate():
    battles = styled(300).assign(size=lambda t: t["model_a"].map(ord) - t["model_b"].map(ord))
    with refused(DataError, "'size'"):
        board_of(battles, covariates=["size"], method="maximum-likelihood")
    assert np.isfinite(board_of(battles, covariates=["size"]).covariate_effects()).all(axis=None)
    options = th.PairedComparisons.from_trials(styled(60)).with_option_covariates(
        pd.DataFrame({"price": range(5)}, index=list("ABCDE"))
    )
    with refused(DataError, "'price' describes options"):
        board_of(options)


@pytest.mark.fit
# of which the sd is 1.2
@pytest.mark.parametrize(("scale", "more"), [(1, 1), (1_000, 1_000), (400, 100)])
def test_the_odds_of_a_small_unit_are_said_of_more_of_it(scale, more):
    battles = styled(600).assign(words=lambda t: scale * t["length"])
    found = th.findings(board_of(battles, covariates=["words"], method="maximum-likelihood"))[
        "covariates"
    ]
    row = found.table.loc["words"]
    assert (
        row["more"] == more
        and row["odds"] == pytest.approx(np.exp(more * row["log_odds"]))
        and row["odds"] > 1.1
    )
    assert f"{row['odds']:.3g} ({row['odds_low']:.3g} to" in found.sentence
    assert f"words increases by {more:,}" in found.sentence


# Boards of parts ----------------------------------------------------------------------------------


def in_languages():
    battles = styled(600)
    return battles.assign(
        language=np.random.default_rng(2).choice(
            ["de", "en", "fr"], len(battles), p=[0.2, 0.6, 0.2]
        )
    )


@pytest.mark.long
@pytest.mark.fit
def test_there_is_a_board_for_each_value_and_one_for_all(tmp_path):
    battles, quick = in_languages(), {"method": "maximum-likelihood"}
    board = board_of(battles, by="language", **quick)
    assert list(board.boards) == ["de", "en", "fr"] and board.table.equals(
        board_of(battles, **quick).table
    )
    for value, part in board.boards.items():
        assert part.table.equals(board_of(battles[battles["language"] == value], **quick).table)
    battles.to_csv(tmp_path / "battles.csv", index=False)
    of_file = board_of(
        tmp_path / "battles.csv", by=["language"], covariates=["length"], where="language != fr"
    )
    assert list(of_file.boards) == ["de", "en"] and of_file.boards["de"].effects is not None
    several = board_of(
        battles.assign(turns=battles["length"].abs() > 1), by=["language", "turns"], **quick
    )
    assert list(several.boards) == [
        "language de",
        "language en",
        "language fr",
        "turns False",
        "turns True",
    ]


@pytest.mark.long
@pytest.mark.exact
@pytest.mark.fit
@pytest.mark.parametrize("covariates", [None, pytest.param(["length"], marks=pytest.mark.long)])
def test_small_parts_borrow_strength(covariates, tmp_path):
    battles = in_languages()
    # some ten are left
    battles.loc[60:, "language"] = battles.loc[60:, "language"].replace("fr", "en")
    alone, board = (
        board_of(battles, by="language", pool=pool, covariates=covariates) for pool in (False, True)
    )
    pd.testing.assert_frame_equal(board.table, alone.table)
    width = {}
    for one, other in ((alone, "alone"), (board, "pooled")):
        for name, part in one.boards.items():
            width[other, name] = (part.table["rating_high"] - part.table["rating_low"]).mean()
            assert part.table["rating"].mean() == pytest.approx(1000.0)
    assert width["pooled", "fr"] < 0.7 * width["alone", "fr"]
    assert 0.8 * width["alone", "en"] < width["pooled", "en"] < 1.02 * width["alone", "en"]
    labels = board.boards["fr"].table.index
    gap = [
        np.abs(each.boards["fr"].table["rating"][labels] - board.table["rating"][labels]).mean()
        for each in (alone, board)
    ]
    assert gap[1] < 0.5 * gap[0]
    assert "pooled: log worths" in board.note and "pooled" not in alone.note
    assert ("rating_without" in board.boards["fr"].table) == (covariates is not None)
    board.save(tmp_path / "board.nc")
    updated = th.load(tmp_path / "board.nc").update(battles[:50], progressbar=False)
    assert "pooled" in updated.note and updated.boards["fr"].table["comparisons"].sum() > len(
        labels
    )


@pytest.mark.fit
@pytest.mark.parametrize(
    ("how", "facts"),
    [
        ({}, ("pool", "got none")),
        ({"by": ["language", "row"]}, ("got 'language' and 'row'",)),
        ({"by": "language", "method": "maximum-likelihood"}, ("pool",)),
        ({"by": "language", "judges": True}, ("pool",)),
        (
            {"by": "language", "method": "mcmc", "people": th.people.Individuals()},
            ("people", "Individuals()"),
        ),
    ],
)
def test_settings_that_cannot_be_pooled_are_refused(how, facts):
    with refused(ArgumentError, *facts):
        board_of(in_languages().assign(row=1, judge=1), pool=True, **how)


@pytest.mark.fit
def test_one_voter_with_most_votes_widens_pooled_intervals():
    """They were half as wide: degrees of freedom of the respondents did not count."""
    rng = np.random.default_rng(3)
    voter = np.where(rng.random(1500) < 0.7, 0, rng.integers(1, 60, 1500))
    first = rng.integers(0, 8, 1500)
    second = (first + rng.integers(1, 8, 1500)) % 8
    worths = 0.6 * rng.normal(size=8) + 0.9 * rng.normal(size=(60, 8))
    wins = rng.random(1500) < expit(worths[voter, first] - worths[voter, second])
    votes = {"model_a": first, "model_b": second, "winner": np.where(wins, "model_a", "model_b")}
    frame = pd.DataFrame(votes).astype(str)
    frame["respondent"], frame["language"] = voter, rng.choice(["en", "fr"], 1500)
    board = board_of(frame, by="language", pool=True)
    assert board.people.df < 3.0
    overall, english = (
        (table["rating_high"] - table["rating_low"]).mean()
        for table in (board.table, board.boards["en"].table)
    )
    assert 0.5 * overall < english
    independence = next(each for each in th.findings(board) if each.key == "independence")
    assert "One respondent contributes 70 %" in str(independence.sentence)
    assert independence.brief.text is None  # the screen shows the sentence


@pytest.mark.fit
def test_categories_of_pooled_parts_are_the_same():
    """French has the topics b and c alone."""
    battles = in_languages()
    topic = np.where(battles["language"] == "fr", "b", np.where(battles.index % 2, "a", "b"))
    battles["topic"] = np.where(battles.index % 3 == 0, "c", topic)
    with refused(DataError, "'topic=c'", "'topic=b'"):
        board_of(battles, by="language", covariates="topic", pool=True)


@pytest.mark.fit
def test_one_part_alone_is_not_pooled():
    board = board_of(in_languages().assign(language="de"), by="language", pool=True)
    assert list(board.boards) == ["de"] and "pooled" not in board.note


@pytest.mark.fit
def test_people_divide_data():
    battles = in_languages().assign(judge=lambda t: t["language"] + t.index.astype(str).str[-1])
    data = th.PairedComparisons.from_trials(battles, respondent="judge")
    board = board_of(data, by="language", method="maximum-likelihood")
    assert board.boards["de"].data.n_comparisons == (battles["language"] == "de").sum()


@pytest.mark.exact
@pytest.mark.fit
def test_an_anchor_has_its_rating(board):
    anchored = board_of(anchor_model={"C": 1114})
    table = anchored.table
    shift = 1114 - board.table.loc["C", "rating"]
    np.testing.assert_allclose(table["rating"], board.table["rating"] + shift)
    assert table.loc["C", ["rating", "rating_low", "rating_high"]].tolist() == [1114.0] * 3
    assert (
        "for differences" in anchored.note
        and "C is fixed at" in anchored.note
        and "1114" in anchored.note
    )
    same = [name for name in table if "rating" not in name]
    pd.testing.assert_frame_equal(table[same], board.table[same])
    assert anchored.order.equals(board.order)
    for wrong, error, words in (
        ("X", DataError, "`anchor_model` is 'X', which is not one of the options"),
        ({"A": "1000"}, ArgumentError, "must have a number as rating; got '1000'"),
        ({"A": 1000, "B": 900}, ArgumentError, "must be one option"),
    ):
        with pytest.raises(error, match=words):
            board_of(anchor_model=wrong)


@pytest.mark.fit
def test_a_part_without_the_anchor_has_the_mean_of_its_options():
    battles = in_languages()
    battles = battles[
        (battles["language"] != "fr") | ~battles[["model_a", "model_b"]].eq("A").any(axis=1)
    ]
    board = board_of(battles, by="language", anchor_model="A", method="maximum-likelihood")
    assert board.table.loc["A", "rating"] == board.boards["de"].table.loc["A", "rating"] == 1000.0
    french = board.boards["fr"]
    assert french.table["rating"].mean() == pytest.approx(
        board.table.loc[french.table.index, "rating"].mean()
    )
    assert "same options in" in french.note


@pytest.mark.fit
@pytest.mark.parametrize("pool", [False, True])
def test_parts_of_few_votes_are_named(pool):
    """Ten votes in a language say little, and the board says so."""
    frame = BATTLES.assign(language=np.where(np.arange(len(BATTLES)) < 10, "few", "many"))
    finding = th.findings(th.leaderboard(frame, by="language", pool=pool, progressbar=False))[
        "boards"
    ]
    (note,) = finding.notes
    ends = "shared by all parts." if pool else "`pool=True` shares information between parts."
    said(note, "(10)")
    assert str(note).endswith(ends)
    alike = pd.concat([BATTLES.assign(language="one"), BATTLES.assign(language="other")])
    board = board_of(alike, by="language", method="maximum-likelihood")
    assert not th.findings(board)["boards"].notes


@pytest.mark.fit
def test_names_of_columns_that_begin_alike():
    """Which column a part is of is not read from its name."""
    battles = BATTLES.assign(a="b x", **{"a b": ["c", "d"] * (len(BATTLES) // 2)})
    battles.loc[:4, "a b"] = ""
    board = board_of(battles, by=["a", "a b"])
    assert len(board.boards) == 3
    (note,) = th.findings(board)["boards"].notes[:1]
    said(note, "5 of 40", "'a b'")
    again = board.update(
        battles.rename(columns={"a b": "other"}), progressbar=False, by=["a", "other"]
    )
    assert again.boards.keys() == board.boards.keys()
    assert [part.data.n_answers for part in again.boards.values()] == [80, 34, 36]


@pytest.mark.long
@pytest.mark.fit
def test_an_empty_cell_counts_for_all_alone():
    battles = in_languages()
    battles.loc[battles["language"] == "fr", "language"] = None
    board = board_of(battles, by="language")
    assert list(board.boards) == ["de", "en"] and board.data.n_comparisons == 600
    gap = board.data.n_comparisons - sum(part.data.n_comparisons for part in board.boards.values())
    sentence = (
        f"{gap} of 600 comparisons have no 'language', so they count towards the overall"
        " leaderboard only."
    )
    for found in (board, board_of(battles, by="language", pool=True)):
        assert th.findings(found)["boards"].notes == (sentence,)
    both = th.findings(board_of(battles.assign(half=["a", "b"] * 300), by=["half", "language"]))[
        "boards"
    ].notes
    assert sentence in both and len(both) == 1


@pytest.mark.fit
@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("lang", "no column 'lang'"),
        ("row", "'row' has 600 different values"),
        ("rare", "rare 'b': .*only one|rare 'b'|b: "),
    ],
)
def test_bad_parts_are_refused(by, words):
    battles = in_languages().assign(row=range(600), rare=["a"] * 597 + ["b"] * 3)
    with pytest.raises(DataError, match=words):
        board_of(battles, by=by, method="maximum-likelihood")


# Are there enough votes? --------------------------------------------------------------------------


def chance_of_order(mean, sd, gained):
    """The probability that a difference, normal about a mean, is told from 0 with so much more
    information."""
    after = 1.0 / (sd**-2.0 + gained)
    ends = (ndtri(CERTAIN) * np.sqrt(after) * np.array([-1, 1]) - mean) / np.sqrt(sd**2 - after)
    return ndtr(ends[0]) + ndtr(-ends[1])


@pytest.mark.parametrize("is_known", [False, True])
def test_the_forecast_of_two_options_is_that_of_normal_distributions(is_known):
    """The mean after n votes is normal about that of now, with the variance that is lost."""
    mean, sd, nu, rng = 0.2, 0.2, 0.4, np.random.default_rng(1)
    draws = rng.normal([mean, 0.0], [sd, 1e-9], (40_000, 2))
    so_far = (lambda n: np.array([[n * 0.1]])) if is_known else None
    table = forecast_separation(draws, so_far, nu, 0.02, effect=2.0)
    for way, of_vote in (("among_these", _information(mean, nu, 0.02) / 2.0), ("as_so_far", 0.1)):
        if not is_known and way == "as_so_far":
            assert way not in table
            continue
        for n in (50, 1000, 7000):
            assert table.loc[n, way] == pytest.approx(
                chance_of_order(mean, sd, n * of_vote), abs=0.012
            )  # five errors
    assert table.loc[0].tolist() == [0.0] * table.shape[1] and table.iloc[-1].max() >= 0.9


def _information(difference, nu, lapse):
    """The variance of the slope of the log-likelihood of a vote, by its outcomes."""

    def logs(d):
        p = (1.0 - lapse) / (1.0 + np.exp(-d)) + lapse / 2.0
        of_all = np.array([p, 1.0 - p, nu * np.sqrt(p * (1.0 - p))])
        return np.log(of_all / of_all.sum())

    slope = (logs(difference + 1e-5) - logs(difference - 1e-5)) / 2e-5
    return float((np.exp(logs(difference)) * slope**2).sum())


@pytest.mark.parametrize(("nu", "lapse"), [(np.nan, 0.0), (0.4, 0.02)])
@pytest.mark.parametrize("size", [2, 3])
def test_the_forecast_is_that_of_precisions(nu, lapse, size):
    """By the inverse of the covariance, which there is here: the same number of draws."""
    rng = np.random.default_rng(size)
    draws = rng.normal(size=(1000, size)) @ (0.3 * rng.normal(size=(size, size))) - 0.2 * np.arange(
        size
    )
    d, so_far = -np.diff(draws), 0.02 * np.eye(size - 1) + 0.01
    table = forecast_separation(draws, lambda n: n * so_far, nu, lapse, 2.0)
    mean, precision = d.mean(axis=0), np.linalg.inv(np.atleast_2d(np.cov(d.T)))
    pairs = np.array([[1.0]] if size == 2 else [[1, 0], [1, 1], [0, 1]], float)
    of_pairs = vote_information(pairs @ mean, nu, lapse) / 2.0 / len(pairs)
    for way, of_vote in (("among_these", (pairs.T * of_pairs) @ pairs), ("as_so_far", so_far)):
        noise = np.roll(d - mean, 500, axis=0) @ np.linalg.cholesky(precision)
        for n in table.index[1:]:
            spread = np.linalg.inv(precision + n * of_vote)
            after = (
                mean
                + ((d - mean) @ (n * of_vote) + noise @ np.linalg.cholesky(n * of_vote).T) @ spread
            )
            sd = np.sqrt(np.einsum("pi,ij,pj->p", pairs, spread, pairs))
            expected = (np.abs(after @ pairs.T) > ndtri(CERTAIN) * sd).all(axis=1).mean()
            assert table.loc[n, way] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "along", [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
)
@pytest.mark.parametrize("middle", [[0.4, 0.1, 0.0], [0.3, 0.3, 0.0], [900.0, 0.0, -900.0]])
def test_the_forecast_of_worths_that_differ_along_one_direction(along, middle):
    """Rounding of draws decides nothing: a covariance of rank 1 or 0 is that of one difference, or
    of none."""
    rng = np.random.default_rng(1)
    exact = np.outer(rng.normal(size=1000), along) + middle
    noisy = [exact + 1e-9 * rng.normal(size=(1000, 3)) * any(along) for _ in "ab"]
    tables = [
        forecast_separation(each, lambda n: n * np.eye(2), np.nan, 0.0, 1.0) for each in noisy
    ]
    pd.testing.assert_frame_equal(*tables)
    assert tables[0].stack().between(0.0, 1.0).all()
    # two that are equal for certain are never told apart
    if along == [1.0, 1.0, 0.0] and middle[0] == middle[1]:
        assert not tables[0].to_numpy().any()


@pytest.mark.exact
@pytest.mark.parametrize("spread", [0.2, 1.5])
def test_the_prior_counts_once_in_the_forecast(spread):
    """However many votes there will be: of two options, by sums over a grid of their difference."""
    table = board_of(th.PairedComparisons([[0, 9], [5, 0]]), spread=spread).more_votes()
    d = np.linspace(-8.0, 8.0, 8001)
    p = 1.0 / (1.0 + np.exp(-d))
    density = p**9 * (1.0 - p) ** 5 * np.exp(-0.25 * (d / spread) ** 2)
    density /= density.sum()
    mean = density @ d
    sd, of_vote = np.sqrt(density @ (d - mean) ** 2), (p * (1.0 - p))[density.argmax()]
    for n in table.index[1:]:
        assert table.loc[n, "as_so_far"] == pytest.approx(
            chance_of_order(mean, sd, n * of_vote), abs=0.04
        )


@pytest.mark.long
@pytest.mark.fit
def test_votes_among_three_are_worth_more_than_as_so_far(board):
    table = board_of(round_robin(5, 8, 2), people="independent").more_votes()
    assert (table["among_these"].iloc[1:] > table["as_so_far"].iloc[1:]).mean() > 0.9
    table = board.more_votes()
    sentence = str(th.findings(board)["votes"].sentence)
    enough = int(table.index[(table["among_these"] >= 0.9).argmax()])
    assert (
        "The top three are not separated yet" in sentence
        and "(probability that A is above " in sentence
    )
    # the numbers of the table, not the thresholds 0.5 and 0.9
    chances = [format_probability(chance) for chance in table["among_these"]]
    assert "of these three only, the probability" in sentence
    assert f"; with {enough:,} more, {chances[table.index.get_loc(enough)]}" in sentence
    numbers = re.findall(
        r"ith ([\d,]+) more(?:[^;.]*? would be(?: only)?|,) ([<>]? ?[\d.]+\d)", sentence
    )
    assert len(numbers) >= 2
    for n, chance in numbers:
        row = table.loc[int(n.replace(",", ""))]
        assert chance in {format_probability(value) for value in row}, (n, chance)
    clear = th.PairedComparisons([[0, 90, 99], [10, 0, 90], [1, 10, 0]])
    assert str(th.findings(board_of(clear))["votes"].sentence).startswith("The top three (")
    assert len(board_of(th.PairedComparisons.from_pairs([("A", "B")] * 2)).more_votes()) > 1
    with refused(DataError, "leaderboard of all"):
        replace(board, of_more_votes=None).more_votes()


@pytest.mark.fit
def test_votes_of_pairs_and_orders(board):
    numbers = board.votes_by_pair()
    assert numbers.loc["A", "B"] == numbers.loc["B", "A"] == 15 and numbers.loc["B", "D"] == 0
    assert numbers.to_numpy().sum() == 2 * len(BATTLES)
    found = th.findings(board)
    assert "83 % of 6 pairs were compared" in found["votes_by_pair"].sentence
    assert found["order"].shown.loc["A", "C"] == board.order.loc["A", "C"] and np.isnan(
        found["order"].shown.iloc[0, 0]
    )
    rng = np.random.default_rng(1)
    many = board_of(
        th.PairedComparisons(rng.integers(0, 4, (70, 70)) * (1 - np.eye(70, dtype=int))),
        method="maximum-likelihood",
    )
    found = th.findings(many)
    assert (
        found["votes_by_pair"].table.shape == (40, 40)
        and "first 40 of 70" in found["votes_by_pair"].title
    )
    assert len(found["order"].table) == 70 * 69 / 2 and found["order"].shown.shape == (20, 20)
    assert "first 20 of 70" in found["order"].title
    said(found["leaderboard"].picture.caption, "61", "70")


# Tomorrow's comparisons ---------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.exact
@pytest.mark.fit
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"ties": "half", "method": "maximum-likelihood"},
        pytest.param({"covariates": ["length"], "by": "language"}, marks=pytest.mark.long),
        {"by": "turn", "id": "row", "respondent": "judge"},
        pytest.param({"by": ["language", "turn"], "id": "row"}, marks=pytest.mark.long),
    ],
    ids=str,
)
def test_an_update_equals_one_fit_of_all(how, tmp_path):
    battles = in_languages().assign(
        row=range(600), turn=lambda t: t.index % 2, judge=lambda t: t.index % 7
    )
    if "ties" in how:
        battles.loc[::9, "winner"] = "tie"
    whole = board_of(battles, **how)
    first = board_of(battles[:350], **how)
    first.save(tmp_path / "board.nc")
    again = th.load(tmp_path / "board.nc")
    assert (
        again.table.equals(first.table)
        and again.order.equals(first.order)
        and again.note == first.note
    )
    assert list(again.boards) == list(first.boards)
    battles[250 if "id" in how else 350 :].to_csv(tmp_path / "more.csv", index=False)
    board = again.update(tmp_path / "more.csv", progressbar=False)
    places = whole.table.index
    for one, other in (
        (board, whole),
        *((board.boards[name], part) for name, part in whole.boards.items()),
    ):
        numbers = [
            each.table.loc[other.table.index].select_dtypes("number") for each in (one, other)
        ]
        np.testing.assert_allclose(*numbers, rtol=0.02, atol=6.0 if one is not board else 3.0)
        assert one.data.n_comparisons == other.data.n_comparisons
    assert ("100 answers whose identifier" in board.note) == ("id" in how)
    assert first.table.equals(again.table) and set(places) == set(board.table.index)


@pytest.mark.fit
def test_updates_of_other_comparisons():
    battles, quick = styled(200), {"method": "maximum-likelihood"}
    board = board_of(battles, **quick)
    new = battles.replace({"model_a": {"A": "F"}, "model_b": {"A": "F"}})
    assert set(board.update(new, progressbar=False).table.index) == set("ABCDEF")
    renamed = new.rename(columns={"model_a": "x", "model_b": "y", "winner": "z"})
    coding = {"model_a": "first", "model_b": "second"}
    named = board.update(
        renamed, progressbar=False, first="x", second="y", chosen="z", coding=coding
    )
    assert named.table.equals(board.update(new, progressbar=False).table)
    with refused(DataError, "'length'"):
        board.update(th.PairedComparisons.from_trials(battles, covariates=["length"]))
    battles = battles.assign(row=[*range(199), 0])
    twice = board_of(battles, id="row", **quick)
    assert (
        twice.data.n_comparisons == 199
        and "answer whose identifier" in twice.note
        and "1 answer" in twice.note
    )
    with refused(DataError, "200 votes", "'row'"):
        twice.update(battles)
    with refused(DataError, "'row'"):
        twice.update(battles[:1])
    with refused(DataError, "the table has"):
        twice.update(battles[:0])
    with refused(DataError, "'row'", "row 3"):
        twice.update(battles.assign(row=battles["row"].where(battles.index != 3)))


@pytest.mark.fit
def test_an_update_names_what_the_leaderboard_was_made_with():
    battles = styled(60).assign(row=range(60), turn=lambda t: t.index % 2)
    quick = {"method": "maximum-likelihood"}
    plain, made = board_of(battles, **quick), board_of(battles, by="turn", id="row", **quick)
    for name, column in (("by", "turn"), ("id", "row"), ("covariates", "length")):
        with refused(ArgumentError, "update cannot add", name):
            plain.update(battles, **{name: column})
    for name, columns, words in (
        ("by", None, "none"),
        ("id", None, "none"),
        ("by", ["turn", "row"], "2"),
    ):
        with refused(ArgumentError, "1 column", name, words):
            made.update(battles, **{name: columns})
    renamed = battles.rename(columns={"row": "line", "turn": "half"}).assign(
        line=lambda t: t["line"] + 30
    )
    new = made.update(renamed, progressbar=False, by="half", id="line")
    assert new.data.n_comparisons == 90 and list(new.boards) == ["0", "1"]
    data = th.PairedComparisons.from_trials(battles, covariates=["length"])
    again = board_of(data, **quick).update(battles, progressbar=False, covariates="length")
    assert again.data.n_comparisons == 120


@pytest.mark.fit
def test_identifiers_describe_nobody():
    battles = styled(60).assign(
        row=range(60), judge=lambda t: t.index % 20, sex=lambda t: t["judge"] % 2
    )
    board = board_of(battles[:20], id="row")
    assert list(board.data.answers.people.columns) == ["length", "sex"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = board.update(battles[20:].drop(columns="length"), progressbar=False)
    assert list(new.data.answers.people.columns) == ["sex"]
    # which are read
    for named in ({"by": "row"}, {"date": "row", "since": 0}, {"covariates": "row"}):
        assert board_of(battles[:8], id="row", respondent="judge", **named).data.n_comparisons == 8


@pytest.mark.fit
def test_what_an_update_forgets_or_takes_for_new_is_said():
    battles = styled(120).assign(judge=lambda t: t.index % 3)
    board = board_of(battles[:60], method="maximum-likelihood")
    with warned(DataWarning, "new answers do"):
        board.update(battles[60:].drop(columns="judge"), progressbar=False)
    with warned(DataWarning, "'C'", "'c'"):
        board.update(battles[60:].replace("C", "c"), progressbar=False)


def test_an_option_that_only_tied_has_no_degrees_of_freedom_that_overflow():
    rng = np.random.default_rng(409)
    rows = [
        (
            f"j{rng.integers(5)}",
            *rng.permutation(list("ABC"))[:2],
            rng.choice(["model_a", "model_b"]),
        )
        for _ in range(38)
    ]
    rows.append(("j3", "D", "B", "tie"))
    votes = pd.DataFrame(rows, columns=["judge", "model_a", "model_b", "winner"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.warns(th.errors.DataWarning, match="'D' was never compared"):
            board = th.leaderboard(votes, ties="drop", progressbar=False)
    assert board.table.loc["D", ["rank_low", "rank_high"]].tolist() == [1, 4]
