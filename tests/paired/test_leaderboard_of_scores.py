"""Leaderboards of tables of scores, of sides, and of votes that are probabilities."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said
from scipy.stats import beta, norm
from scipy.stats import t as student

import thali as th
from thali.errors import DataError

pytestmark = [pytest.mark.usefixtures("few_draws"), pytest.mark.fit]
MODELS = ["gpt", "claude", "llama", "qwen"]


def board_of(source, **settings):
    return th.leaderboard(source, progressbar=False, **settings)


def simulate(kind, n=150, seed=0):
    """Scores of four models on n items: marks, grades, or grades of which a fifth is missing."""
    rng = np.random.default_rng(seed)
    logits = np.array([0.8, 0.5, 0.0, -0.6]) + rng.normal(0, 1, (n, 1))
    shares = 1 / (1 + np.exp(-logits))
    scores = (rng.random(shares.shape) < shares).astype(float)
    if kind != "marks":
        scores = np.round(np.clip(shares + rng.normal(0, 0.2, shares.shape), 0, 1), 1)
    if kind == "missing":
        scores[rng.random(scores.shape) < 0.2] = np.nan
    return pd.DataFrame(scores, columns=MODELS).assign(item=[f"q{k}" for k in range(n)])


def lengthen(table, keys=("item",)):
    return table.melt([*keys], MODELS, "model", "score").dropna()


# The comparisons are the paired ones --------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("kind", ["marks", "grades", "missing"])
@pytest.mark.parametrize("shape", ["wide", "long"])
def test_scores_are_compared_item_by_item(kind, shape):
    table = simulate(kind)
    source = table
    if shape == "long":
        source = lengthen(table).sample(frac=1.0, random_state=1)
    data = board_of(source).recipe.counted.data
    scores = table.set_index("item")
    wins = {(a, b): (scores[a] > scores[b]).sum() for a in MODELS for b in MODELS if a != b}
    ties = {(a, b): (scores[a] == scores[b]).sum() for a in MODELS for b in MODELS if a != b}
    assert sorted(data.labels) == sorted(MODELS) and data.n_pairs == 6
    for first, second, won, lost, tied in zip(
        data.first, data.second, data.wins, data.losses, data.tied, strict=True
    ):
        pair = data.labels[first], data.labels[second]
        assert (won, lost, tied) == (wins[pair], wins[pair[::-1]], ties[pair])
    # each item is the respondent of its comparisons
    one = data.by_respondent()["q7"]
    row = scores.loc["q7"].dropna()
    assert one.n_comparisons == len(row) * (len(row) - 1) / 2
    assert one.n_ties == sum(x == y for k, x in enumerate(row) for y in row[:k])


@pytest.mark.long
@pytest.mark.exact
def test_orders_are_those_of_paired_tests():
    far = []
    for seed in range(8):
        scores = simulate("marks", 300, seed)[MODELS]
        board = board_of(scores.assign(item=range(300)), spread=3.0)  # hardly shrunk
        means = scores.mean().sort_values(ascending=False, kind="stable")
        assert list(board.table.index) == list(means.index)
        for a in MODELS:
            for b in MODELS[MODELS.index(a) + 1 :]:
                gap = scores[a] - scores[b]
                far.append(board.order.loc[a, b] - norm.cdf(gap.mean() / gap.sem()))
    # four standard errors of a share of 4,000 draws
    assert np.abs(far).max() < 0.03 and np.abs(far).mean() < 0.006


def test_mean_scores_have_intervals_over_items():
    marks, grades = simulate("marks"), simulate("missing")
    table = board_of(marks.assign(llama=1.0)).table
    for name in ("gpt", "llama"):
        right = marks.assign(llama=1.0)[name].sum()
        limits = beta.ppf([0.055, 0.945], right + 0.5, 150 - right + 0.5)
        row = table.loc[name, ["mean_score", "mean_score_low", "mean_score_high"]]
        np.testing.assert_allclose(row.astype(float), [right / 150, *limits])
    table = board_of(grades, ci=0.8).table
    used = grades.loc[grades[MODELS].count(axis=1) > 1]
    for name in MODELS:
        cells = used[name].dropna()
        limits = student.ppf([0.1, 0.9], len(cells) - 1, cells.mean(), cells.sem())
        row = table.loc[name, ["mean_score", "mean_score_low", "mean_score_high"]]
        np.testing.assert_allclose(row.astype(float), [cells.mean(), *limits])


@pytest.mark.long
def test_equal_scores_count_half_unless_asked_otherwise():
    board = board_of(simulate("marks"))
    assert board.recipe.settings.ties == "half" and np.isnan(board.tie)
    pd.testing.assert_frame_equal(board.table, board_of(simulate("marks"), ties="half").table)
    dropped = board_of(simulate("marks"), ties="drop")
    assert dropped.data.n_comparisons == board.data.n_comparisons - board.recipe.counted.data.n_ties
    assert dropped.data.scores is not None
    assert not np.isnan(board_of(simulate("marks"), ties="davidson").tie)


# Shapes of tables ---------------------------------------------------------------------------------


@pytest.mark.long
def test_all_shapes_give_the_same_board(tmp_path):
    marks = simulate("marks")
    board = board_of(marks)
    turned = marks.set_index("item").T.rename_axis("model").reset_index()
    words = marks.replace({1.0: "C", 0.0: "I"})
    for source in (lengthen(marks), turned, words, marks.astype(dict.fromkeys(MODELS, bool))):
        pd.testing.assert_frame_equal(board_of(source).table, board.table)
        path = tmp_path / "scores.csv"
        source.to_csv(path, index=False)
        pd.testing.assert_frame_equal(board_of(path).table, board.table)
    named = lengthen(marks).set_axis(["x", "y", "z"], axis=1)
    again = board_of(named, item="x", option="y", score="z")
    pd.testing.assert_frame_equal(again.table, board.table)
    said(board_of(path).recipe.counted.read_as, "the higher score wins", "150 items")


def test_runs_are_averaged():
    runs = [simulate("marks", 60, seed).assign(seed=seed) for seed in range(3)]
    together = pd.concat(runs)
    mean = sum(run[MODELS] for run in runs) / 3
    board = board_of(mean.assign(item=runs[0]["item"]))
    for source in (together, lengthen(together, ("item", "seed"))):
        averaged = board_of(source)
        pd.testing.assert_frame_equal(averaged.table, board.table)
        said(averaged.recipe.counted.read_as, "480 repeated scores averaged within items")
    # a third and a third and a third make one, to the last digit
    assert averaged.recipe.counted.data.n_ties == sum(
        (np.round(3 * mean[a]) == np.round(3 * mean[b])).sum()
        for k, a in enumerate(MODELS)
        for b in MODELS[:k]
    )


def test_repeated_scores_of_other_measures_are_not_averaged():
    long = lengthen(simulate("marks"))
    two = pd.concat(
        [long.assign(metric="f1"), long.assign(metric="exact", score=1 - long["score"])]
    )
    with refused(DataError, "several scores of an option", "metric"):
        board_of(two)
    one = board_of(two, where="metric == 'f1'")
    pd.testing.assert_frame_equal(one.table, board_of(long).table)


@pytest.mark.long
@pytest.mark.parametrize("column", ["task", "level"])  # known as a part, or named by `by` only
@pytest.mark.parametrize("shape", ["wide", "long"])
def test_each_task_has_its_board(column, shape):
    parts = {name: simulate("grades", 40, seed) for seed, name in enumerate(["maths", "law"])}
    source = pd.concat([part.assign(**{column: name}) for name, part in parts.items()])
    if shape == "long":
        source = lengthen(source, ("item", column))
    board = board_of(source, by=column)
    # items of two tasks are two, even if they have one name
    assert len(board.data.respondents) == 80
    for name, part in parts.items():
        alone = board_of(part).table
        pd.testing.assert_frame_equal(board.boards[name].table, alone)
    said(th.findings(board)["boards"].sentence, "in law", "in maths")
    assert "mean_score_low" in board.by_part().columns


@pytest.mark.first(1)
@pytest.mark.parametrize("shape", ["wide", "long"])
def test_a_part_that_is_constant_within_items_does_not_identify_them(shape):
    source = simulate("grades").assign(task=["maths", "law", "code"] * 50)
    if shape == "long":
        source = lengthen(source, ("item", "task"))
    board = board_of(source, by="task")
    assert set(board.data.respondents) == set(simulate("grades")["item"])
    assert board.recipe.counted.read_as.count("'task'") == 0
    assert len(board.boards) == 3


def test_a_part_by_number_is_no_model():
    source = simulate("grades").assign(year=[2024, 2025] * 75)
    board = board_of(source, by="year")
    assert sorted(board.table.index) == sorted(MODELS) and list(board.boards) == ["2024", "2025"]


UNLIKE = {
    "ranges": pd.DataFrame(
        {"name": list("abcd"), "age": [20, 33, 41, 50], "cm": [170, 182, 190, 160]}
    ),
    "marks and grades": simulate("marks").assign(difficulty=np.linspace(1, 5, 150)),
    "respondents": simulate("grades").rename(columns={"item": "participant"}),
    "no items": simulate("grades")[MODELS] * 10,
    "options": simulate("grades", 8).set_index("item").T.rename_axis("Classifier").reset_index(),
}


@pytest.mark.parametrize("source", UNLIKE.values(), ids=UNLIKE)
def test_what_is_not_plainly_scores_is_a_question(source):
    with refused(DataError, "may be scores", "`item`", "`without`"):
        board_of(source)


@pytest.mark.long
def test_the_answer_to_the_question_is_taken():
    odd = simulate("marks").assign(human=np.linspace(1, 5, 150))
    assert "human" in board_of(odd, item="item").table.index
    assert "human" not in board_of(odd.drop(columns="human")).table.index
    people = simulate("grades").rename(columns={"item": "participant"})
    assert board_of(people, item="participant").data.n_options == 4


def test_options_in_rows_are_options_if_their_column_is_named():
    board = board_of(UNLIKE["options"], option="Classifier")
    assert sorted(board.table.index) == sorted(MODELS) and len(board.data.respondents) == 8
    marks = simulate("marks", 8).rename(columns={"item": "dataset"})  # this name is one of items
    assert board_of(marks[["dataset", *MODELS]]).data.n_options == 4


def rename_scores(prefix, **columns):
    return simulate("grades", 40).rename(columns={name: prefix + name for name in MODELS} | columns)


LOWER = {
    "columns": rename_scores("wer_"),
    "named item": rename_scores("", gpt="rmseGpt", claude="RMSE.claude", llama="RMSE", qwen="rmse"),
    "scores": lengthen(simulate("grades", 40)).rename(columns={"score": "loss"}),
    "metric": lengthen(simulate("grades", 40)).assign(metric="Perplexity"),
    "benchmark": pd.DataFrame({"model": MODELS, "EM": [0.1, 0.4, 0.2, 0.3], "error rate": 0.5}),
}


@pytest.mark.parametrize("source", LOWER.values(), ids=LOWER)
def test_measures_of_which_the_lower_is_better_are_a_question(source):
    columns = {"score": "loss"} if "loss" in source else {}
    if "item" in source:
        columns["item"] = "item"
    with refused(DataError, "the lower may be better", "minus sign"):
        board_of(source, **columns)
    numbers = source.select_dtypes("number").columns
    if "model" in source and "EM" in source:
        board_of(source.assign(**{"error rate": [-0.1, -0.4, -0.2, -0.3]}), option="model")
    else:
        board_of(source.assign(**{name: -source[name] for name in numbers}), **columns)


def test_a_metric_of_which_the_higher_is_better_is_no_question():
    scores = lengthen(simulate("grades", 40))
    rows = pd.concat([scores.assign(metric="f1"), scores.assign(metric="loss")])
    where = "metric == 'f1'"
    assert board_of(rows, where=where).data == board_of(scores).data
    with refused(DataError, "of 'loss' the lower may be better"):
        board_of(rows, where="metric == 'loss'")


def test_marks_of_items_are_no_options():
    marks = simulate("marks").assign(is_hard=[1, 0, 0] * 50)
    for columns in ({}, {"item": "item"}):
        with refused(DataError, "'is_hard'", "`without`"):
            board_of(marks, **columns)
    assert board_of(marks, without=["is_hard"]).data.n_options == 4


PAPER = pd.DataFrame(
    {
        "Model": ["A", "B", "C", "D"],
        "MMLU": [89.7, 74.2, 72.8, 70.1],
        "GSM8K": [81.9, 80.2, 78.8, 66.2],
        "BBH": [77.8, 79.4, 78.4, 60.9],
        "ARC": [87.4, 79.3, 70.7, 65.5],
    }
)


def test_row_numbers_are_no_scores():
    grades = simulate("grades", 12)
    board = board_of(grades)
    numbered = grades.assign(number=range(1, 13))
    for source in (numbered, numbered[["number", "item", *MODELS]]):
        again = board_of(source)
        pd.testing.assert_frame_equal(again.table, board.table)
        said(again.recipe.counted.read_as, "row numbers ('number') not used")
    ranked = board_of(PAPER.assign(Rank=[1, 2, 3, 4])[["Rank", *PAPER.columns]])
    assert len(ranked.data.respondents) == 4
    said(ranked.recipe.counted.read_as, "items: 'MMLU', 'GSM8K', 'BBH' and 'ARC'", "('Rank')")
    with refused(DataError, "'id'", "`without`"):
        board_of((10 * grades[MODELS]).assign(item=grades["item"], id=np.arange(2, 14) ** 2))


@pytest.mark.parametrize("ranks", [[1, 1, 3, 4], [1, 3, 2, 4]])
def test_ranks_beside_scores_are_a_question(ranks):
    source = PAPER.assign(Rank=ranks)
    with refused(DataError, "of 'rank' the lower may be better", "`without`"):
        board_of(source)
    assert board_of(source, without="Rank").data.n_comparisons == 24


SUMMARIES = {
    "mean": lambda scores: scores.mean(axis=1).round(2),
    "total": lambda scores: scores.sum(axis=1),
    "max": lambda scores: scores.max(axis=1),
    "worst": lambda scores: scores.min(axis=1),
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_summaries_of_other_scores_are_a_question(name):
    grades = simulate("grades", 12) if name != "total" else simulate("marks", 12)
    source = grades.assign(**{name: SUMMARIES[name](grades[MODELS])})
    with refused(DataError, f"'{name}' may be the mean", "`without`"):
        board_of(source, item="item")
    with pytest.raises(DataError, match="`without`"):
        board_of(source)
    assert board_of(source, without=name).data.n_options == 4


@pytest.mark.parametrize("more", [{}, {"Size": [30, 70, 70, 8]}])
def test_a_mean_of_items_is_a_question(more):
    source = PAPER.assign(Average=PAPER.iloc[:, 1:].mean(axis=1).round(1))
    source = source.assign(**more)[["Model", *more, *source.columns[1:]]]
    with refused(DataError, "'Average' may be the mean", "`where`"):
        board_of(source)
    turned = source.set_index("Model").T.rename_axis("dataset").reset_index()
    with refused(DataError, "'Average' may be the mean", "`where`"):
        board_of(turned, item="dataset")
    board = board_of(turned, where="dataset != 'Average'", item="dataset")
    assert len(board.data.respondents) == 4 + len(more)
    # scores may equal a mean by chance, and copies are no means
    board_of(
        PAPER.assign(MMLU=[2, 3, 4, 1], GSM8K=[1, 2, 2, 3], BBH=[3, 4, 1, 2], ARC=[2, 3, 2, 2])
    )
    board_of(simulate("marks").assign(gpt=1.0, claude=1.0, llama=1.0))


def test_ranks_of_judges_are_a_question():
    ranks = {"Ann": [1, 2, 3, 4], "Bob": [1, 3, 2, 4], "Cid": [2, 1, 3, 4], "Dee": [1, 2, 3, 3]}
    essays = pd.DataFrame({"Essay": list("WXYZ")} | ranks)
    for source, columns in (
        (essays, {"option": "Essay"}),
        (essays.rename(columns={"Essay": "model"}), {}),
        (essays.rename(columns={"Essay": "sample"}), {}),
    ):
        with refused(DataError, "may be ranks or scores", "`item`", "`unranked='absent'`"):
            board_of(source, **columns)
    turned = essays.set_index("Essay").T.rename_axis("judge").reset_index()
    assert list(board_of(turned, unranked="absent").table.index) == list("WXYZ")
    assert list(board_of(turned, item="judge").table.index) == list("ZYXW")


@pytest.mark.parametrize(
    "names",
    [("reward_a", "reward_b"), ("score_model_a", "score_model_b"), ("logprob_A", "logprob_B")],
)
def test_scores_of_the_two_options_in_each_row_are_a_question(names):
    scores = np.round(np.random.default_rng(1).normal(size=(12, 2)), 2)
    pairs = [(MODELS[k % 4], MODELS[(k + 1 + k // 4) % 4]) for k in range(12)]
    source = pd.DataFrame(pairs, columns=["model_a", "model_b"]).assign(question_id=range(12))
    source[[*names]] = scores
    with refused(DataError, "may be in 'model_a' and 'model_b'", "'score_a'", "`without`"):
        board_of(source)
    with refused(DataError, "'model_a' or 'model_b' was chosen"):
        th.read(source)
    named = source.rename(columns=dict(zip(names, ("score_a", "score_b"), strict=True)))
    data = board_of(named).recipe.counted.data
    assert sorted(data.labels) == sorted(MODELS) and data.n_comparisons == 12
    assert sorted(board_of(source, without=["model_a", "model_b"]).table.index) == sorted(names)


def test_the_score_of_repeated_options_is_asked_for():
    long = lengthen(simulate("grades", 40))
    with refused(DataError, "the score of an option", "`score`"):
        board_of(long.rename(columns={"score": "f1", "item": "dataset"}))
    with refused(DataError, "the item", "`item`"):
        board_of(long.rename(columns={"item": "utterance"}))
    board_of(long.rename(columns={"score": "f1", "item": "dataset"}), score="f1")


def test_only_leaderboards_read_scores():
    for kind in ("marks", "grades"):
        for source in (simulate(kind), lengthen(simulate(kind))):
            with refused(DataError, "th.leaderboard"):
                th.read(source)
    for source in (LOWER["columns"], simulate("marks", 40).rename(columns={"item": "Approach"})):
        with pytest.raises(DataError, match=r"th\.leaderboard"):
            th.read(source)
    with pytest.raises(DataError):
        th.paired.order_effect(simulate("marks"))


def test_impossible_scores_are_refused():
    alone = pd.DataFrame(
        {"item": list("abc"), "gpt": [1, np.nan, 0], "qwen": [np.nan, 1, np.nan], "llama": np.nan}
    )
    with refused(DataError, "0 comparisons"):
        board_of(alone, item="item")
    with refused(DataError, "'qwen' on item 'a' is infinite"):
        board_of(alone.fillna({"qwen": np.inf, "llama": 0.0}), item="item")
    board = board_of(alone.assign(qwen=[0, 1, 0]), item="item")
    said(board.recipe.counted.read_as, "are ties; 1 item with a single score not used")
    board = board_of(simulate("marks"))
    with refused(DataError, "cannot be extended"):
        board.update(simulate("marks"))


def test_the_word_is_item():
    board = board_of(simulate("marks"))
    for key in (findings := th.findings(board)).keys():
        finding = findings[key]
        parts = [finding.sentence, finding.headline, *finding.notes, finding.title]
        parts += (
            [str(finding.table), *map(str, finding.table.columns)]
            if finding.table is not None
            else []
        )
        text = " ".join(map(str, parts)).replace("Repeated answers from the same respondents", "")
        assert "espondent" not in text and "judge" not in text, finding.key
    assert "150 items" in str(board)
    said(str(th.findings(board)["votes"].sentence), "more items")
    pd.testing.assert_frame_equal(board.table, board_of(simulate("marks")).table)


def test_a_saved_board_keeps_its_scores(tmp_path):
    board = board_of(simulate("missing"))
    board.save(tmp_path / "board.nc")
    loaded = th.load(tmp_path / "board.nc")
    pd.testing.assert_frame_equal(loaded.table, board.table)
    np.testing.assert_array_equal(loaded.data.scores, board.data.scores)
    assert loaded.people.unit == "item" and loaded.recipe.settings == board.recipe.settings
    subset = board.recipe.counted.data.subset(["qwen", "gpt"])
    np.testing.assert_array_equal(subset.scores, board.data.scores[:, [3, 0]])


# Many items and models ----------------------------------------------------------------------------


def test_dense_blocks_of_respondents_give_the_same_variance(monkeypatch):
    tables = {}
    for block in (2**21, 700):
        monkeypatch.setattr("thali._model.cluster_robust_variance.BLOCK", block)
        tables[block] = board_of(simulate("missing", 60)).table
    first, second = tables.values()
    np.testing.assert_allclose(first["rating_low"], second["rating_low"], rtol=1e-9)


# The first side -----------------------------------------------------------------------------------


def battles(advantage, share=0.5, n=3000, seed=0):
    """Votes between four models; the first model is shown first in a share of its battles."""
    rng = np.random.default_rng(seed)
    worths = dict(zip(MODELS, [0.6, 0.3, 0.0, -0.4], strict=True))
    rows = []
    for _ in range(n):
        a, b = rng.choice(MODELS, 2, replace=False)
        if "gpt" in (a, b) and (a == "gpt") != (rng.random() < share):
            a, b = b, a
        p = 1 / (1 + np.exp(-(worths[a] - worths[b] + advantage)))
        rows.append((a, b, ["model_b", "model_a"][int(rng.random() < p)], p))
    return pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "p"])


@pytest.mark.long
def test_the_advantage_of_the_first_side_is_reported():
    votes = battles(0.3).drop(columns="p")
    row = board_of(votes).of_advantage.iloc[0]
    controlled = board_of(votes, covariates="order").covariate_effects().loc["order"]
    np.testing.assert_allclose(
        row[["advantage", "low", "high"]].astype(float), controlled, atol=0.01
    )
    assert row["low"] < 0.3 < row["high"] and row["low"] > 0.1 and not row["unbalanced"]
    finding = th.findings(board_of(votes))["position"]
    said(finding.sentence, f"{np.exp(row['advantage']):.2f}", "89 % interval")
    assert finding.good is None


def test_unbalanced_sides_with_an_advantage_are_a_warning():
    finding = th.findings(board_of(battles(0.3, 0.8).drop(columns="p")))["position"]
    assert finding.good is False
    said(str(finding.sentence), "gpt was first in 8", "covariates='order'")
    assert (
        th.findings(board_of(battles(0.0, 0.8, seed=2).drop(columns="p")))["position"].good is None
    )


def test_intervals_of_the_advantage_allow_for_respondents():
    votes = battles(0.3, n=1000).drop(columns="p")
    alone = board_of(votes).of_advantage.iloc[0]
    five = pd.concat([votes] * 5).assign(voter=np.tile(np.arange(1000) // 10, 5))
    together = board_of(five)
    row = together.of_advantage.iloc[0]
    assert together.people.effect > 3.0
    assert row["high"] - row["low"] == pytest.approx(alone["high"] - alone["low"], rel=0.25)


@pytest.mark.long
def test_sides_that_are_unknown_or_controlled_have_no_advantage():
    votes = battles(0.3, n=200).drop(columns="p")
    assert board_of(votes, covariates="order").of_advantage is None
    pairs = th.PairedComparisons.from_pairs([("A", "B"), ("B", "C"), ("C", "A"), ("A", "C")] * 9)
    assert (
        board_of(pairs).of_advantage is None
        and "position" not in th.findings(board_of(pairs)).keys()
    )
    home = votes.set_axis(["home", "away", "result"], axis=1).replace(
        {"model_a": "H", "model_b": "A"}
    )
    pd.testing.assert_frame_equal(board_of(home).of_advantage, board_of(votes).of_advantage)


# Votes as probabilities ---------------------------------------------------------------------------


@pytest.mark.first(1)
@pytest.mark.parametrize("name", ["p_a", "prob_a", "probability_a", "p_model_a"])
def test_a_probability_is_two_fractional_votes(name):
    rows = battles(0.0, n=300)
    counted = rows[["model_a", "model_b"]].set_axis(["chosen", "rejected"], axis=1)
    turned = counted.set_axis(["rejected", "chosen"], axis=1)
    data = th.PairedComparisons.from_frame(
        pd.concat([counted.assign(count=rows["p"]), turned.assign(count=1 - rows["p"])]),
        weights=True,
    )
    board = board_of(rows.drop(columns="winner").rename(columns={"p": name}))
    np.testing.assert_allclose(board.data.wins.sum() + board.data.losses.sum(), 300.0)
    wanted = board_of(data).table["rating"]
    np.testing.assert_allclose(board.table["rating"], wanted[board.table.index])
    assert board.of_advantage is not None


def test_a_column_of_probabilities_can_be_named():
    rows = battles(0.0, n=300).drop(columns="winner")
    board = board_of(rows.rename(columns={"p": "p_a"}))
    named = board_of(rows.rename(columns={"p": "sure"}), probability="sure")
    pd.testing.assert_frame_equal(named.table, board.table)
    judged = board_of(rows.assign(judge=np.arange(300) % 6, p_a=rows["p"]).drop(columns="p"))
    assert judged.people.number == 6
    assert th.read(rows.rename(columns={"p": "prob_a"})).n_comparisons == pytest.approx(300.0)
    # a vote has priority
    assert th.read(battles(0.0, n=30).rename(columns={"p": "p_a"})).wins.dtype == float


def test_log_odds_and_percentages_are_refused():
    rows = battles(0.0, n=30).drop(columns="winner")
    for numbers in (np.log(rows["p"] / (1 - rows["p"])), 100 * rows["p"]):
        with refused(DataError, "'p_a'", "1 / (1 + exp(-x))"):
            board_of(rows.assign(p_a=numbers).drop(columns="p"))
    with refused(DataError, "'p_a'", "`probability`"):
        board_of(rows.rename(columns={"p": "probability"}))


# Differences of worths ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["votes", "scores"])
def test_each_difference_of_worths_has_an_interval(kind):
    source = battles(0.0, n=400).drop(columns="p")
    if kind == "scores":
        source = simulate("marks", 80)
    board = board_of(source)
    table = th.findings(board)["order"].table
    assert list(table.columns) == ["probability", "difference", "low", "high"] and len(table) == 6
    for (better, worse), row in table.iterrows():
        assert row["probability"] == board.order.loc[better, worse] >= 0.5
        assert row["low"] < row["difference"] < row["high"]
        # an interval without 0 is an order that is certain at its level
        assert (row["low"] > 0.0) == (row["probability"] > 0.945)
        gap = board.table.loc[better, "rating"] - board.table.loc[worse, "rating"]
        assert row["difference"] == pytest.approx(gap * np.log(10) / 400)


def test_one_text_among_scores_is_asked_about():
    scores = {"item": [*"pqrst"], "gpt": [1, 2, 3, 4, 5], "llama": [2, 3, 2, 4, "n/a*"]}
    frame = pd.DataFrame(scores | {"qwen": [1, 1, 3, 2, 5]})
    with pytest.raises(DataError, match=r"'llama' contains 'n/a\*' in row 4"):
        th.leaderboard(frame, item="item", progressbar=False)
    noted = frame.assign(llama=["good", "bad", "good", "bad", "good"])
    assert {*th.leaderboard(noted, item="item", progressbar=False).table.index} == {"gpt", "qwen"}
