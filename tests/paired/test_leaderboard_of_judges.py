"""Leaderboards whose judges differ in discrimination, and whose options change in time."""

import importlib
import re

import numpy as np
import pandas as pd
import pytest
from helpers import limits
from helpers.sentences import refused, said
from scipy.optimize import minimize_scalar
from scipy.special import expit
from scipy.stats import norm

import thali as th
from thali.errors import ArgumentError, DataError

pytestmark = [pytest.mark.fit, pytest.mark.usefixtures("few_draws")]


def battles(count, seed=0, options=6, judges=5, days=60, spread=0.6, drift=1.0):
    """Options of which the first becomes worse and the last better, and judges the last of whom is
    the sharpest."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, options, count)
    second = (first + rng.integers(1, options, count)) % options
    judge, day = rng.integers(0, judges, count), np.sort(rng.integers(0, days, count))
    worth = np.linspace(0.8, -0.8, options)[:, None] + np.zeros(days)
    worth[0] -= drift * np.linspace(0, 1.5, days)
    worth[-1] += drift * np.linspace(0, 1.5, days)
    d = np.exp(spread * np.linspace(-1, 1, judges))
    wins = rng.random(count) < expit(d[judge] * (worth[first, day] - worth[second, day]))
    names = np.array([f"m{k}" for k in range(options)])
    return pd.DataFrame(
        {
            "model_a": names[first],
            "model_b": names[second],
            "winner": np.where(
                rng.random(count) < 0.1, "tie", np.where(wins, "model_a", "model_b")
            ),
            "judge": np.array([f"j{k}" for k in range(judges)])[judge],
            "day": (pd.Timestamp("2024-01-01") + pd.to_timedelta(day, "D")).astype(str),
            "stage": 1 + day // 30,
            "length": rng.normal(size=count).round(1),
        }
    )


FRAME = battles(1500)


@pytest.mark.long
def test_scores_of_answers_against_sure_predictions_are_finite():
    """One judge's answers let all others expect log odds of thousands, which the judge does not
    keep to."""
    frame = FRAME.head(40).assign(judge=["j0"] * 36 + ["j1"] * 4, length=[1.0] * 36 + [4000.0] * 4)
    frame["length"] *= np.where(
        (frame["winner"] == "model_a") == (frame["judge"] == "j0"), 1.0, -1.0
    )
    how = {"judges": True, "covariates": ["length"], "lapse": 0.0}
    assert np.isfinite(th.leaderboard(frame, **how, progressbar=False).judges()["log_score"]).all()


def exact_frame(counts, column):
    """Choices between two options of judges, or in periods, named by numbers."""
    rows = [("a", "b", "a", k) for k, (wins, _) in enumerate(counts) for _ in range(wins)]
    rows += [("a", "b", "b", k) for k, (_, losses) in enumerate(counts) for _ in range(losses)]
    return pd.DataFrame(rows, columns=["left", "right", "chosen", column])


@pytest.mark.exact
def test_discriminations_equal_exact_values():
    """Two options; judge 0 chose 9 : 1, judge 1 chose 5 : 5; E log d .24974 and -.24974 by
    quadrature."""
    frame = exact_frame([(9, 1), (5, 5)], "judge")
    board = th.leaderboard(
        frame, judges=True, lapse=0.01, method="mcmc", random_seed=1, progressbar=False
    )
    judges = board.judges()
    assert judges.index.tolist() == ["0", "1"]
    # 4 errors
    np.testing.assert_allclose(judges["log_discrimination"], [0.24974, -0.24974], atol=0.06)
    assert judges["comparisons"].tolist() == [10, 10]


# by quadrature
KNOWN, LEARNED = (0.5, [0.60737, 0.45597, 0.27297]), (None, [0.62049, 0.46185, 0.25776])


@pytest.mark.first(2)
@pytest.mark.exact
@pytest.mark.parametrize(
    ("method", "drift", "expected"),
    [
        ("laplace", *KNOWN),
        ("laplace", *LEARNED),
        ("mcmc", *LEARNED),
        pytest.param("mcmc", *KNOWN, marks=pytest.mark.long),
    ],
)
def test_worths_in_time_equal_exact_values(drift, expected, method):
    frame = exact_frame([(8, 2), (5, 5), (1, 9)], "season")
    how = {"lapse": 0.01, "drift": drift, "method": method, "progressbar": False}
    table = th.leaderboard(frame, period="season", **how).worths_in_time()
    found = 1.0 - table[table["option"] == "b"]["probability"].to_numpy()
    np.testing.assert_allclose(found, expected, atol=0.02)


@pytest.mark.long
def test_judges_are_ordered_by_discrimination():
    board = th.leaderboard(FRAME[FRAME["stage"] == 1], judges=True, progressbar=False)
    judges = board.judges()
    assert judges.index[0] == "j4" and judges.index[-1] in ("j0", "j1")
    assert (judges["low"] < judges["discrimination"]).all() and (
        judges["discrimination"] < judges["high"]
    ).all()
    assert judges["comparisons"].sum() == (FRAME["stage"] == 1).sum()
    assert judges.loc["j4", "log_score"] > judges.loc["j4", "log_score_chance"]
    gain = judges["log_score"] - judges["log_score_chance"]
    assert gain["j4"] > 0.05 > gain["j0"]


def score_by(board, answers):
    """The mean log probability that equal judges of the board's worths, who tie as often as these,
    give to answers."""
    worth = board.table["worth"]
    first, second = (worth[answers[name]].to_numpy() for name in ("model_a", "model_b"))

    def score(log_nu):
        tie = np.exp(log_nu) * np.sqrt(first * second)
        of_each = {"model_a": first, "model_b": second, "tie": tie}
        total = sum(of_each.values())
        return np.log(
            [of_each[won][row] / total[row] for row, won in enumerate(answers["winner"])]
        ).mean()

    return -minimize_scalar(lambda log_nu: -score(log_nu), bracket=(-2.0, 1.0)).fun


@pytest.mark.long
def test_a_judge_who_ties_often_is_as_discriminating_as_the_others():
    """With one tie parameter for all, whoever tied more seemed to discriminate less."""
    frame = battles(1500, spread=0.0, drift=0.0)
    is_lazy = (frame["judge"] == "j0") & (np.arange(len(frame)) % 5 < 3)
    frame["winner"] = frame["winner"].mask(is_lazy, "tie")
    table = th.leaderboard(frame, judges=True, progressbar=False).judges()
    assert table["low"]["j0"] < 1.0 < table["high"]["j0"]
    assert table["log_score"]["j0"] > table["log_score_chance"]["j0"] + 0.01


@pytest.mark.long
def test_the_others_predict_a_judge_as_without_the_judge():
    frame = battles(1500, judges=5).drop(columns=["day", "stage", "length"])
    how = {"judges": True, "judge_sd": 0.5, "random_seed": 1, "progressbar": False}
    board = th.leaderboard(frame, **how)
    found, errors = board.judges()["log_score"], []
    for name in ["j0", "j2", "j4"]:
        own = frame["judge"] == name
        without = th.leaderboard(frame[~own], **how)
        assert found[name] == pytest.approx(score_by(without, frame[own]), abs=0.002)
        errors.append(abs(found[name] - score_by(board, frame[own])))
    assert max(errors) > 0.006  # so far is the prediction that knows the judge's own answers


@pytest.mark.long
def test_a_step_of_newtons_method_predicts_nearly_as_a_fit_without_the_judge():
    """A step is made from 51 judges on; here one judge more has a single answer."""
    scores = []
    for n_single in (45, 46):
        frame = battles(1500, judges=5).drop(columns=["day", "stage", "length"])
        is_odd = frame["judge"] == "j0"
        frame.loc[is_odd, "winner"] = frame["winner"][is_odd].replace(
            {"model_a": "model_b", "model_b": "model_a"}
        )
        frame.loc[: n_single - 1, "judge"] = [f"once {k}" for k in range(n_single)]
        board = th.leaderboard(frame, judges=True, judge_sd=0.5, progressbar=False)
        scores.append(board.judges()["log_score"][["j0", "j1", "j2", "j3", "j4"]])
    fitted, stepped = scores
    np.testing.assert_allclose(stepped, fitted, atol=0.01)


@pytest.mark.long
def test_worths_in_time_end_at_the_board():
    board = th.leaderboard(FRAME, period="month", date="day", progressbar=False)
    table = board.worths_in_time()
    assert table["period"].unique().tolist() == ["2024-01", "2024-02"]
    last = table[table["period"] == "2024-02"].set_index("option").loc[board.table.index]
    np.testing.assert_allclose(last["rating"], board.table["rating"])
    assert (last["rank"] == board.table["rank"]).all() and (
        last["rank_low"] == board.table["rank_low"]
    ).all()
    assert last.loc["m5", "p_better"] > 0.95 and last.loc["m0", "p_better"] < 0.05
    assert table.groupby("period")["rating"].mean().to_numpy() == pytest.approx([1000.0, 1000.0])


def simulate_seasons(changes, games, seed):
    """Games of two seasons between which log worths change."""
    rng, options = np.random.default_rng(seed), len(changes)
    worths = rng.permutation(np.linspace(-1.5, 1.5, options))
    first, season = rng.integers(options, size=games), np.arange(games) % 2
    second = (first + rng.integers(1, options, games)) % options
    gaps = worths[first] - worths[second] + season * (changes[first] - changes[second])
    wins = rng.random(games) < expit(gaps)
    winner = np.where(wins, "model_a", "model_b")
    return pd.DataFrame({"model_a": first, "model_b": second, "winner": winner, "season": season})


def estimate_season(games, options):
    """Maximum-likelihood log worths with mean 0 by Newton's method, and their covariance."""
    x = np.zeros((len(games), options))
    rows = np.arange(len(games))
    x[rows, games["model_a"]], x[rows, games["model_b"]] = 1.0, -1.0
    y, worths = (games["winner"] == "model_a").to_numpy(float), np.zeros(options)
    for _ in range(30):
        p = expit(x @ worths)
        covariance = np.linalg.pinv((x * (p * (1.0 - p))[:, None]).T @ x)
        worths = worths + covariance @ x.T @ (y - p)
    return worths, covariance


@pytest.mark.exact
def test_of_many_only_those_are_named_who_are_sure_together():
    """The test of a change is that of two separate estimates, its bound that of all tests."""
    options = 16
    games = simulate_seasons(np.linspace(-1.0, 1.0, options), 4000, 3)
    board = th.leaderboard(games, period="season", progressbar=False)
    table = board.worths_in_time().query("period == '1'").set_index("option")
    (before, v_before), (after, v_after) = (
        estimate_season(games[games["season"] == season], options) for season in (0, 1)
    )
    changes = after - before
    drawn = np.random.default_rng(0).multivariate_normal(changes, v_before + v_after, 20_000)
    errors = (drawn - np.median(drawn, axis=1, keepdims=True)).std(axis=0)
    z = pd.Series((changes - np.median(changes)) / errors, [str(k) for k in range(options)])
    np.testing.assert_allclose(table["z"][z.index], z, rtol=0.1, atol=0.3)
    bound = norm.isf(0.05 / (4 * options))
    named = table.index[table["z"].abs() >= bound]
    assert 3 < len(named) < (table["z"].abs() > 1.96).sum()
    sentence = str(th.findings(board)["worths_in_time"].sentence)
    rose, fell = (
        set(re.findall(r"\d+", part.split(". Th")[0])) for part in sentence.split("worse")
    )
    assert rose == {name for name in named if table["z"][name] > 0}
    assert fell == {name for name in named if table["z"][name] < 0}
    said(sentence, "better than", "0.95", options, len(named))


@pytest.mark.usefixtures("pictures")
def test_options_that_changed_have_colours(monkeypatch):
    """The last of all has its name beside its line if it surely changed."""
    board = th.leaderboard(FRAME, period="month", date="day", progressbar=False)
    plot = importlib.import_module("thali._plots.worths_in_time")
    limits.lower_in(plot, monkeypatch, COLOURS=plot.COLOURS[:3])
    order = board.table.index.tolist()
    table = board.worths_in_time()
    for moved in (([], []), ([order[-1]], [order[-2]])):
        table.attrs["better"], table.attrs["worse"] = moved
        named = [text.get_text().strip() for text in th.plots.worths_in_time(table).texts]
        best = order[: 3 - sum(map(len, moved))]
        assert named == [option for option in order if option in {*moved[0], *moved[1], *best}]


@pytest.mark.long
def test_periods_without_comparisons_count_as_steps():
    """With whole numbers 1 and 4 the change is one of three steps."""
    two, four = (FRAME.assign(season=np.where(FRAME["stage"] == 1, 1, later)) for later in (2, 5))
    how = {"period": "season", "progressbar": False}
    near = th.leaderboard(two, drift=0.6, **how)
    far = th.leaderboard(four, drift=0.3, **how)
    np.testing.assert_allclose(near.table["rating"], far.table["rating"], atol=1e-9)


def test_an_option_that_enters_late_begins_there():
    late = FRAME[(FRAME["stage"] == 2) | ~FRAME[["model_a", "model_b"]].eq("m3").any(axis=1)]
    table = th.leaderboard(late, period="stage", progressbar=False).worths_in_time()
    assert table[table["option"] == "m3"]["period"].tolist() == ["2"]
    assert table[table["option"] == "m3"]["p_better"].isna().all()
    others = table[table["option"] != "m3"]
    assert others.groupby("period")["rating"].mean().to_numpy() == pytest.approx([1000.0, 1000.0])


def test_the_anchor_stands_still():
    how = {"period": "month", "date": "day", "progressbar": False}
    board, plain = (
        th.leaderboard(FRAME[::5], anchor_model={"m2": 900}, **how),
        th.leaderboard(FRAME[::5], **how),
    )
    table = board.worths_in_time()
    own = table[table["option"] == "m2"]
    assert (
        own[["rating", "rating_low", "rating_high"]].to_numpy() == pytest.approx(900.0)
        and own["p_better"].isna().all()
    )
    last = plain.table["rating"] + 900.0 - plain.table.loc["m2", "rating"]
    np.testing.assert_allclose(board.table["rating"], last[board.table.index])
    assert "in each period, m2 is fixed at 900" in board.note
    late = FRAME[(FRAME["stage"] == 2) | ~FRAME[["model_a", "model_b"]].eq("m3").any(axis=1)]
    with refused(DataError, "'m3'"):
        th.leaderboard(late, period="stage", anchor_model="m3", progressbar=False)


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("how", [{"judges": True}, {"period": "month", "date": "day"}])
def test_an_update_equals_one_fit_of_all(how, tmp_path):
    every = FRAME[::2]
    whole = th.leaderboard(every, progressbar=False, **how)
    begun = th.leaderboard(every[:450], progressbar=False, **how)
    begun.save(tmp_path / "board.nc")
    updated = th.load(tmp_path / "board.nc").update(every[450:], progressbar=False)
    own, other = whole.table.sort_index(), updated.table.sort_index()
    np.testing.assert_allclose(own["rating"], other["rating"], atol=1e-6)
    whole.save(tmp_path / "whole.nc")
    again = th.load(tmp_path / "whole.nc")
    for one in (
        board.judges() if "judges" in how else board.worths_in_time() for board in (again, updated)
    ):
        first = whole.judges() if "judges" in how else whole.worths_in_time()
        pd.testing.assert_frame_equal(one, first, atol=1e-6)


def biased(count=3000, seed=5):
    """Battles whose judges like length from not at all to a lot."""
    frame = battles(count, seed, drift=0.0).drop(columns=["day", "stage"])
    rng, liking = np.random.default_rng(seed + 1), np.linspace(-0.5, 1.5, 5)
    worth = np.linspace(0.8, -0.8, 6)
    first, second, judge = (
        frame[name].str[1:].astype(int) for name in ("model_a", "model_b", "judge")
    )
    p = expit(worth[first] - worth[second] + liking[judge] * frame["length"])
    return frame.assign(winner=np.where(rng.random(count) < p, "model_a", "model_b")), liking


@pytest.mark.long
@pytest.mark.exact
@pytest.mark.parametrize("method", ["laplace", pytest.param("mcmc", marks=pytest.mark.long)])
def test_judges_have_biases_of_their_own(method):
    frame, liking = biased()
    how = {"judges": True, "covariates": ["length"], "method": method, "progressbar": False}
    board = th.leaderboard(frame, judge_bias=True, **how)
    judges = board.judges().sort_index()
    np.testing.assert_allclose(judges["bias_length"], liking, atol=0.25)
    assert (judges["bias_length_low"] < judges["bias_length"]).all()
    assert np.corrcoef(judges["bias_length"], liking)[0, 1] > 0.98
    effect = board.covariate_effects().loc["length"]
    assert effect["low"] < 0.5 < effect["high"]
    assert effect["high"] - effect["low"] > 0.4 and "standard deviation" in board.note
    same = th.leaderboard(frame, **how)
    assert (
        "bias_length" not in same.judges()
        and np.ptp(np.diff(same.covariate_effects(), axis=1)) < 0.2
    )


@pytest.mark.long
@pytest.mark.fit
def test_every_interval_has_the_probability_asked_for(tmp_path):
    how = {"judges": True, "period": "month", "date": "day", "progressbar": False}
    wide, narrow = (th.leaderboard(FRAME, ci=ci, **how) for ci in (0.89, 0.2))
    narrow.save(tmp_path / "board.nc")
    for board in (narrow, th.load(tmp_path / "board.nc")):
        tables = [(each.table, each.judges(), each.worths_in_time()) for each in (wide, board)]
        for one, other in zip(*tables, strict=True):
            assert one.attrs["interval"] == 0.89 and other.attrs["interval"] == 0.2
            for low in [name for name in one if name.endswith("low")]:
                high = low.replace("low", "high")
                assert (one[low] <= other[low]).all() and (other[high] <= one[high]).all(), low
                assert (other[high] - other[low]).mean() < 0.4 * (
                    one[high] - one[low]
                ).mean() or "rank" in low, low
    said(narrow.note, "20 %")
    with refused(ArgumentError, "ci"):
        th.leaderboard(FRAME, ci=89, **how)


@pytest.mark.parametrize("how", [{"period": "month"}, {"since": "2024-01-15"}])
def test_the_only_column_of_dates_needs_no_name(how):
    how, frame = how | {"progressbar": False}, FRAME[::25]
    named = th.leaderboard(frame, date="day", **how)
    pd.testing.assert_frame_equal(th.leaderboard(frame, **how).table, named.table)
    seconds = (pd.to_datetime(frame["day"]) - pd.Timestamp(0)).dt.total_seconds()
    stamped = frame.drop(columns="day").assign(tstamp=seconds, row_id=seconds)
    pd.testing.assert_frame_equal(th.leaderboard(stamped, **how).table, named.table)
    twice = frame.assign(created=frame["day"])
    with pytest.raises(DataError, match=r"'day' and 'created'.*date='day'"):
        th.leaderboard(twice, **how)
    with pytest.raises(DataError, match=f"`{next(iter(how))}` requires comparisons with dates"):
        th.leaderboard(frame.drop(columns="day"), **how)


@pytest.mark.long
def test_since_and_until_select_dates():
    how = {"date": "day", "progressbar": False}
    board = th.leaderboard(FRAME, since="2024-01-15", until="2024-01", **how)
    kept = FRAME[(FRAME["day"] >= "2024-01-15") & (FRAME["day"] < "2024-02")]
    again = th.leaderboard(kept.drop(columns="day"), progressbar=False)
    np.testing.assert_allclose(
        board.table["rating"], again.table["rating"].loc[board.table.index], atol=6.0
    )  # draws
    assert board.data.n_comparisons == again.data.n_comparisons


@pytest.mark.first(4, "how8-ArgumentError-facts8", "how9-DataError-facts9")
@pytest.mark.parametrize(
    ("how", "error", "facts"),
    [
        ({"judge_sd": 0.5}, ArgumentError, ("judge_sd",)),
        ({"drift": 0.5}, ArgumentError, ("no effect without `period`",)),
        ({"judges": True, "judge_sd": 0.0}, ArgumentError, ("judge_sd",)),
        ({"judges": True, "method": "maximum-likelihood"}, ArgumentError, ("judges",)),
        ({"judges": True, "people": "adjusted"}, ArgumentError, ("remove one",)),
        ({"judge_bias": True}, ArgumentError, ("judge_bias",)),
        ({"judges": True, "judge_bias": True}, DataError, ("covariates of comparisons",)),
        ({"date": "day"}, DataError, ("'day'", "period='week'")),
        ({"date": "day", "period": "stage"}, ArgumentError, ("column of",)),
        ({"date": "stage", "period": "week"}, DataError, ("'stage'",)),
        ({"period": "day_"}, DataError, ("column 'day_'",)),
        ({"judges": True, "respondent": "nobody"}, DataError, ("column 'nobody'",)),
    ],
)
def test_bad_settings_of_judges_and_periods_are_refused(how, error, facts):
    with refused(error, *facts):
        th.leaderboard(FRAME, progressbar=False, **how)
    with refused(DataError, "of judges"):
        th.leaderboard(FRAME.drop(columns="judge"), judges=True, progressbar=False)


@pytest.mark.usefixtures("pictures")
def test_periods_are_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    plain = th.leaderboard(FRAME.head(300), method="maximum-likelihood", progressbar=False)
    for draw, sentence in (
        (plain.judges, "has no judge effects"),
        (plain.worths_in_time, "has no periods"),
    ):
        with pytest.raises(DataError, match=sentence):
            draw()
    votes = battles(700, 3, options=9)
    board = th.leaderboard(votes, period="month", date="day", progressbar=False)
    assert (
        th.plots.worths_in_time(board.worths_in_time()).get_title(loc="left")
        == "grey: 2 more options"
    )


@pytest.mark.fit
def test_one_vote_does_not_say_that_somebody_guesses():
    rows = (
        [("A", "B", "A", "Ann")] * 40
        + [("A", "B", "B", "Bo")] * 31
        + [("A", "B", "B", f"once {k}") for k in range(3)]
    )
    battles = pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "judge"])
    board = th.leaderboard(battles, judges=True, judge_sd=0.5, progressbar=False)
    judges = board.judges()
    assert (judges["log_score"] < judges["log_score_chance"]).sum() > 2
    assert all(part in board.note for part in ("than 30 comparisons", "3 judges", "'once 0'"))
    (found,) = [each for each in th.findings(board) if each.key == "judges"]
    said(found.sentence, "predicted no better than chance")


@pytest.mark.long
def test_the_climb_leaves_a_saddle_of_covariates_in_large_units():
    rng = np.random.default_rng(0)
    for scale in 10.0 ** rng.uniform(3, 8, 12):
        rows = [
            (*rng.choice(list("abcd"), 2, replace=False), "model_a", scale * rng.normal())
            for _ in range(24)
        ]
        data = pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "x"])
        data.loc[::2, "winner"] = "model_b"
        board = th.leaderboard(data, covariates=["x"], lapse=0.02, progressbar=False)
        assert np.isfinite(board.table.select_dtypes(float)).all(axis=None)


def test_covariates_beyond_what_is_computed_are_refused():
    data = pd.DataFrame(
        dict(model_a=list("aab"), model_b=list("bcc"), winner=["model_a"] * 3, x=[1.0, 2, 3e300])
    )
    with refused(th.errors.DataError, "covariate 'x'", "300"):
        th.leaderboard(data, covariates=["x"], progressbar=False)


@pytest.mark.parametrize("n_judges, how", [(6000, {}), (1400, {"target": "judge 0"})])
def test_more_judges_than_fit_into_memory_are_refused(n_judges, how):
    votes = battles(n_judges, options=20)
    votes["judge"] = [f"judge {k}" for k in range(n_judges)]
    with refused(DataError, f"{n_judges:,} judges and 20 options"):
        th.leaderboard(votes, judges=True, respondent="judge", progressbar=False, **how)
