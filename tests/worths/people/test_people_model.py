"""What `BradleyTerryLuce` says of respondents who differ, against the draws of its posterior."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said, warned
from scipy.special import expit, logsumexp

import thali as th
from thali._people.respondent_columns import build_covariates
from thali.errors import ArgumentError, DataError, DataWarning

RUN = {"draws": 60, "tune": 60, "chains": 2, "random_seed": 1, "progressbar": False}
LABELS = list("abcdef")
pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]


def maxdiff_rows(respondents=9):
    """Best and worst of four of six options, five times by each respondent; two segments."""
    rng, rows = np.random.default_rng(3), []
    for person in range(respondents):
        worth = np.arange(6) * (1.0 if person % 2 else -1.0) + rng.normal(size=6)
        for _ in range(5):
            shown = rng.permutation(6)[:4]
            order = shown[np.argsort(-(worth[shown] + rng.gumbel(size=4)))]
            rows.append(
                [f"p{person}", *(LABELS[k] for k in shown), LABELS[order[0]], LABELS[order[-1]]]
            )
    return rows


def maxdiff(respondents=9):
    """The same as data, with a column that tells the segments apart, and one that does not."""
    columns = ["respondent", "item1", "item2", "item3", "item4", "best", "worst"]
    frame = pd.DataFrame(maxdiff_rows(respondents), columns=columns)
    number = frame["respondent"].str[1:].astype(int)
    return th.read(frame.assign(member=np.where(number % 2, "y", "n"), age=20 + number))


def two_options(wins=((3, 1), (1, 4), (2, 2)), columns=None):
    """Comparisons of two options by three respondents, with these columns of theirs."""
    rows = [
        ("a", "b", "ab"[k < lost], f"p{p}")
        for p, (won, lost) in enumerate(wins)
        for k in range(won + lost)
    ]
    frame = pd.DataFrame(rows, columns=["one", "other", "winner", "who"]).assign(**columns or {})
    return th.PairedComparisons.from_trials(frame, "one", "other", "winner", respondent="who")


@pytest.fixture(scope="module")
def model():
    made = th.BradleyTerryLuce(people=th.people.Individuals(by=["member", "age"]))
    return made.fit(maxdiff(), **RUN)


def drawn(model, name):
    values = model.posterior_["posterior"][name]
    return values.stack(sample=("chain", "draw")).transpose("sample", ...).values


def test_scores_of_a_respondent_are_those_of_the_worths_and_sum_to_100(model):
    worths = drawn(model, "respondent_log_worth").astype(float)
    p = expit(worths - np.log(3.0))  # of a set with three other options of average worth
    scores = 100.0 * p / p.sum(axis=-1, keepdims=True)
    table = model.respondents.individuals()
    assert table["mean"].to_numpy() == pytest.approx(scores.mean(axis=0).ravel(), rel=1e-4)
    wide = model.respondents.individuals(wide=True)
    assert wide.index.tolist() == [f"p{k}" for k in range(9)] and wide.columns[0] == "fit"
    assert wide.drop(columns="fit").sum(axis=1).to_numpy() == pytest.approx(100.0)
    assert model.scores()["score"].to_numpy() == pytest.approx(scores.mean(axis=(0, 1)), rel=1e-4)


def test_the_fit_of_a_respondent_is_the_geometric_mean_of_probabilities_of_answers(model):
    worths = drawn(model, "respondent_log_worth").astype(float)
    labels, logs = model.posterior_["posterior"]["option"].values.tolist(), {}
    for person, *shown, best, worst in maxdiff_rows():
        value = np.exp(worths[:, int(person[1:])][:, [labels.index(each) for each in shown]])
        total = value.sum(axis=1) * (1.0 / value).sum(axis=1) - 4.0
        ratio = value[:, shown.index(best)] / value[:, shown.index(worst)]
        logs.setdefault(person, []).append(np.log((ratio / total).mean()))
    fit = model.respondents.individuals(wide=True)["fit"]
    for person, values in logs.items():
        assert fit[person] == pytest.approx(np.exp(np.mean(values)), rel=1e-4)


def test_effects_are_of_a_unit_of_the_column(model):
    table, effects = model.respondents.effects(), drawn(model, "respondent_effect")
    ages = 20.0 + np.arange(9)
    assert table.loc["age", "mean"].to_numpy() == pytest.approx(
        effects[:, 1].mean(axis=0) / ages.std(), rel=1e-6
    )
    assert table.loc["member[y]", "ratio"].to_numpy() == pytest.approx(
        np.exp(table.loc["member[y]", "mean"])
    )


def test_a_new_respondent_is_predicted_from_what_is_known(model):
    yes, no = (
        model.predict_proba([("f", "a")], respondent={"member": each, "age": 24})[0]
        for each in "yn"
    )
    assert yes > 0.6 > 0.4 > no
    with refused(ArgumentError, "respondent", "covariates"):
        th.BradleyTerryLuce().fit(two_options(), **RUN).predict_proba(
            [("a", "b")], respondent={"age": 24}
        )


@pytest.mark.parametrize(
    ("respondent", "error", "facts"),
    [
        ({"member": "y"}, ArgumentError, ("'age'",)),
        ({"member": "maybe", "age": 24}, ArgumentError, ("'maybe'", "'member'", "'n' and 'y'")),
        ({"member": "y", "age": 24, "town": "X"}, ArgumentError, ("'town'", "'member' and 'age'")),
        (30, ArgumentError, ("'member'", "got 30")),
        ({"member": "y", "age": "old"}, DataError, ("'age'", "'old'")),
        ({"member": "y", "age": None}, DataError, ("missing",)),
    ],
)
def test_what_is_not_known_of_a_new_respondent_is_asked_for(model, respondent, error, facts):
    with refused(error, *facts):
        model.predict_proba([("f", "a")], respondent=respondent)


def test_a_label_that_nobody_had_counts_as_of_unknown_columns(model):
    known = th.Choices.from_comparisons(two_options(columns={"member": "y", "age": 24}))
    unknown = th.Choices.from_comparisons(two_options(columns={"member": "x", "age": 24}))
    with warned(DataWarning, "'member'", "'x'", "'n' and 'y'"):
        found = model.log_predictive(unknown)
    assert np.isfinite(found).all() and not found.equals(model.log_predictive(known))


def test_brackets_in_the_names_of_columns_and_labels_are_no_marks():
    """A column may be called `sex [self]`, and a label `m [other]`: both mean what `sex` and `m`
    mean."""
    people = pd.DataFrame({"age": [20, 40, 60], "sex": ["f", "m", "m"]})
    other = people.rename(columns={"sex": "sex [self]"}).replace({"m": "m [other]"})
    plain = build_covariates(["age", "sex"], people, 3)
    odd = build_covariates(["age", "sex [self]"], other, 3)
    assert odd.names == ("age", "sex [self][m [other]]")
    assert odd.list_labels() == {"sex [self]": ("f", "m [other]")}
    np.testing.assert_array_equal(odd.standardise_rows(other), plain.standardise_rows(people))
    np.testing.assert_array_equal(odd.standardise_rows(other), plain.matrix)


def test_results_about_respondents_name_themselves(model):
    assert repr(model.respondents) == "WorthRespondents: effects, individuals, reach, segments"


def test_segments_and_reach_are_of_the_respondents(model):
    segments = model.respondents.segments(2)
    assert segments.assignment["segment"].nunique() == 2
    scores = model.scores(by=segments)
    assert scores.groupby("segment")["score"].sum().to_numpy() == pytest.approx(100.0)
    sets = model.respondents.reach(2, top=15)
    assert len(sets) == 15 and sets["best"].sum() == pytest.approx(1.0)
    worth = np.exp(drawn(model, "respondent_log_worth").astype(float))
    reached = worth > worth.mean(axis=-1, keepdims=True)
    labels = model.posterior_["posterior"]["option"].values.tolist()
    best = [labels.index(each) for each in sets["members"].iloc[0]]
    assert sets["reach"].iloc[0] == pytest.approx(reached[..., best].any(axis=-1).mean())


def test_segments_that_draws_do_not_agree_on_are_not_claimed(model):
    alike = th.BradleyTerryLuce(people=th.people.Individuals()).fit(
        two_options([(3, 3)] * 12), **RUN
    )
    for asked in (None, 2):
        found = alike.findings(segments=asked)["segment_sizes"]
        assert "No clear segments" in str(found.sentence)
        assert (found.picture is None) == (asked is None)
    assert model.findings()["segment_sizes"].picture is not None


def test_choices_of_new_respondents_are_integrals_over_the_population():
    """Against Gauss and Hermite's rule, at every draw."""
    model = th.BradleyTerryLuce(people=th.people.Individuals()).fit(two_options(), **RUN)
    worth, sd = drawn(model, "log_worth"), np.sqrt(2.0) * drawn(model, "residual_spread")
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    a, b = (model.posterior_["posterior"]["option"].values.tolist().index(each) for each in "ab")
    p = expit((worth[:, a] - worth[:, b])[:, None] + sd[:, None] * nodes)
    weights = weights / weights.sum()
    assert model.predict_proba([("a", "b")])[0] == pytest.approx((p @ weights).mean(), abs=0.01)
    choices = th.Choices.from_comparisons(two_options())
    for name, (won, lost) in zip(["p0", "p1", "p2"], ((3, 1), (1, 4), (2, 2)), strict=True):
        of_draws = np.log((p**won * (1.0 - p) ** lost) @ weights)
        expected = logsumexp(of_draws) - np.log(len(of_draws))
        assert model.log_predictive(choices)[name] == pytest.approx(expected, abs=0.05)


@pytest.mark.long
def test_the_fit_goes_on_and_takes_further_answers(tmp_path):
    data = maxdiff()
    whole = th.BradleyTerryLuce(people=th.people.Individuals()).fit(data, **RUN)
    short = th.BradleyTerryLuce(people=th.people.Individuals()).fit(data, **RUN | {"draws": 20})
    short.continue_fit(40, progressbar=False)
    scores = whole.respondents.individuals(wide=True)
    assert short.respondents.individuals(wide=True).equals(scores)
    whole.save(tmp_path / "fit.nc")
    assert th.load(tmp_path / "fit.nc").respondents.individuals(wide=True).equals(scores)
    pairs = th.BradleyTerryLuce(people=th.people.Individuals()).fit(two_options(), **RUN)
    size = "2 options, 1 pair, 26 comparisons, 3 respondents"
    assert repr(pairs.update(two_options())).endswith(f" fitted to {size}>")


@pytest.mark.filterwarnings("ignore")
def test_a_board_is_of_the_population():
    votes = pd.DataFrame([("a", "b", "ab"[k % 3 == 0], f"p{k % 7}") for k in range(35)])
    data = th.PairedComparisons.from_trials(
        votes.set_axis(["a", "b", "winner", "who"], axis=1), respondent="who"
    )
    board = th.leaderboard(data, people=th.people.Individuals(), progressbar=False)
    assert board.table.index.tolist() == ["a", "b"] and board.people.model == "individuals"
    assert board.convergence().agrees and {"check", "convergence"} <= set(th.findings(board).keys())
    with refused(ArgumentError, "Individuals()", "'mcmc'"):
        th.leaderboard(data, people=th.people.Individuals(), method="laplace", progressbar=False)


def with_one_respondent():
    return maxdiff(1)


def with_covariates():
    rows = [("a", "b", "a", "p", 1.0), ("a", "b", "b", "q", 2.0)]
    frame = pd.DataFrame(rows, columns=["one", "other", "winner", "who", "x"])
    return th.PairedComparisons.from_trials(
        frame, "one", "other", "winner", respondent="who", covariates=["x"]
    )


REFUSED = {
    "one respondent": (with_one_respondent, {}, DataError, ("Individuals()", "one")),
    "unknown respondents": (
        lambda: th.datasets.celebrities(),
        {},
        DataError,
        ("Individuals()", "respondent"),
    ),
    "covariates": (with_covariates, {}, ArgumentError, ("'x'", "people='adjusted'")),
    "ranking of four": (
        maxdiff,
        {"best_worst": "ranking"},
        DataError,
        ("4", "best_worst='reversed'"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_data_that_individual_worths_cannot_have_are_refused(name):
    make, settings, error, facts = REFUSED[name]
    with refused(error, *facts):
        th.BradleyTerryLuce(people=th.people.Individuals(), **settings).fit(make(), **RUN)


def test_results_of_individuals_need_individuals():
    model = th.BradleyTerryLuce().fit(two_options(), **RUN)
    with refused(ArgumentError, "Individuals()"):
        _ = model.respondents
    with refused(ArgumentError, "`by`", "Individuals()"):
        model.scores(by={"p0": 1})
    with refused(ArgumentError, "`by`"):
        th.BradleyTerryLuce(people=th.people.Individuals()).fit(
            maxdiff(), **RUN
        ).respondents.effects()


def test_a_respondent_who_answered_once_is_counted():
    columns = ["respondent", "item1", "item2", "item3", "item4", "best", "worst"]
    frame = pd.DataFrame(maxdiff_rows()[:41], columns=columns)
    fitted = th.BradleyTerryLuce(people=th.people.Individuals()).fit(th.read(frame), **RUN)
    (note,) = fitted.findings()["individuals"].notes
    said(note, "1 respondent", "once")


def test_the_rule_of_best_and_worst_says_nothing_of_choices():
    """Only data with a worst have one."""
    data = two_options()
    fits = [
        th.BradleyTerryLuce(people=th.people.Individuals(), best_worst=rule).fit(data, **RUN)
        for rule in (None, "reversed")
    ]
    assert fits[0].respondents.individuals().equals(fits[1].respondents.individuals())


def test_settings_of_findings_are_checked_before_the_fit():
    fitted = th.BradleyTerryLuce(people=th.people.Individuals()).fit(two_options(), **RUN)
    with refused(ArgumentError, "'z'"):
        fitted.findings(none="z")
    with refused(DataError, "40 segments", "3 respondents"):
        fitted.findings(segments=40)
    with refused(ArgumentError, "segments", "Individuals()"):
        th.BradleyTerryLuce(method="mcmc").fit(two_options(), **RUN).findings(segments=2)


def test_a_board_of_half_ties_has_no_check():
    votes = pd.DataFrame([("a", "b", "a" if k % 3 else "tie", f"p{k % 5}") for k in range(31)])
    data = th.PairedComparisons.from_trials(
        votes.set_axis(["a", "b", "winner", "who"], axis=1), respondent="who"
    )
    board = th.leaderboard(data, ties="half", people=th.people.Individuals(), progressbar=False)
    assert board.of_check is None and "5.5" in board.check_facts["missing"]
    with refused(ArgumentError, "'alike'", "leave_out='respondent'"):
        alike = {
            "alike": th.BradleyTerryLuce(people=th.people.Individuals()),
            "one": th.BradleyTerryLuce(),
        }
        th.compare(alike, data, progressbar=False)
