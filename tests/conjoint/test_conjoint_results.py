"""Settings, checks, corrections and files of effects of conjoint experiments."""

import itertools
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from helpers.conjoint_studies import LEVELS, read_conjoint, simulate_conjoint
from helpers.sentences import refused, said

import thali as th
from thali.errors import ArgumentError, DataError

pytestmark = pytest.mark.fit


@pytest.fixture(scope="module")
def frame():
    return simulate_conjoint(60, seed=5)


@pytest.fixture(scope="module")
def data(frame):
    return read_conjoint(frame)


@pytest.fixture(scope="module")
def by_party(data):
    return th.amce(data, by="resp_party", weights="weight")


def find_check(result, name):
    """Return the sentence of a check of the design."""
    return result.checks.loc[name, "result"]


def test_a_baseline_turns_effects_around(data):
    first = th.amce(data).table.set_index(["attribute", "level"])
    other = th.amce(data, baseline={"Age": "68"}).table.set_index(["attribute", "level"])
    assert other.loc[("Age", "35"), "estimate"] == -first.loc[("Age", "68"), "estimate"]
    assert other.loc[("Age", "68"), "estimate"] == 0
    assert np.isnan(other.loc[("Age", "68"), "std_error"])


def test_long_tables_on_the_screen_begin_with_the_baselines(data, by_party):
    for result in (th.amce(data), by_party):
        said(result.findings()["amce"].brief.text, "Baselines: Female, 35, Left")


def test_restrictions_are_found_and_named():
    restricted = read_conjoint(simulate_conjoint(200, restricted=True, seed=6))
    found = th.amce(restricted)
    said(find_check(found, "restrictions"), "Education and Job", "College + Lawyer", "No degree")
    given = th.amce(restricted, restrictions=[("Job", "Education")])
    pd.testing.assert_frame_equal(found.table, given.table)
    without = th.amce(restricted, restrictions=[])
    assert not np.allclose(found.table["estimate"], without.table["estimate"], atol=1e-3)


def test_attributes_that_are_not_independent_are_found():
    """All levels meet, but one profession is rarer among one party."""
    frame = simulate_conjoint(300, seed=7)
    rare = (frame["Party"] == "Left") & (frame["Job"] == "Farmer")
    frame.loc[rare & (np.arange(len(frame)) % 4 > 0), "Job"] = "Doctor"
    said(find_check(th.amce(frame), "restrictions"), "Party and Job", "not independent")


def test_levels_that_no_partner_can_have_both_have_no_effect():
    """A lawyer always has a PhD and a farmer never: nothing says what the job alone changes."""
    frame = simulate_conjoint(200, seed=8)
    frame.loc[frame["Job"] == "Lawyer", "Education"] = "PhD"
    farmers = frame["Job"] == "Farmer"
    frame.loc[farmers & (frame["Education"] == "PhD"), "Education"] = "College"
    table = th.amce(frame, baseline={"Job": "Farmer"}).table.set_index("level")
    assert np.isnan(table.loc["Lawyer", "estimate"])
    assert table.loc["Doctor", "df"] > 0


def test_tasks_may_define_groups(frame, data):
    result = th.amce(data, by="half")
    halves = [part for _, part in frame.groupby("half")]
    for k, part in enumerate(halves):
        alone = th.amce(read_conjoint(part)).table
        rows = result.table.iloc[14 * k : 14 * (k + 1)]
        np.testing.assert_allclose(rows["estimate"], alone["estimate"], atol=1e-9)
        np.testing.assert_allclose(rows["std_error"], alone["std_error"], atol=1e-9)
    merged = result.table.pivot(index=["attribute", "level"], columns="group", values="std_error")
    independent = np.hypot(merged["first"], merged["second"]).sort_index()
    errors = result.effect_differences.set_index(["attribute", "level"])["std_error"].sort_index()
    # the same respondents are in both groups
    assert not np.allclose(errors.dropna(), independent.dropna(), rtol=1e-3)


def test_the_column_of_tasks_defines_groups(data, frame):
    result = th.amce(data, by="contest_no")
    copied = th.amce(read_conjoint(frame.assign(copy=frame["contest_no"])), by="copy")
    assert result.table["group"].unique().tolist() == ["1", "2", "3", "4", "5"]
    pd.testing.assert_frame_equal(result.table, copied.table)


def test_groups_of_empty_cells_are_left_out(frame):
    is_left = frame["resp_party"] == "Left"
    part = frame[is_left]
    other = frame.assign(resp_party=frame["resp_party"].where(is_left, None))
    other.loc[other["ResponseId"] == frame.loc[~is_left, "ResponseId"].iloc[0], "resp_party"] = "O"
    table = th.amce(other, by="resp_party").table.query("group == 'Left'")
    expected = th.amce(part).table
    np.testing.assert_allclose(table["estimate"], expected["estimate"], atol=1e-9)


def test_weights_are_a_column_or_one_number_per_respondent(data):
    column = th.amce(data, weights="weight")
    numbers = th.amce(data, weights=data.people["weight"])
    scaled = th.amce(data, weights=100 * data.people["weight"].to_numpy())
    pd.testing.assert_frame_equal(column.table, numbers.table)
    pd.testing.assert_frame_equal(column.table, scaled.table)


def test_a_rating_that_disagrees_with_the_choices_is_no_attribute(frame):
    plain = frame.drop(columns="rating")
    unrelated = frame.assign(rating=np.random.default_rng(1).integers(1, 8, len(frame)))
    pd.testing.assert_frame_equal(th.amce(unrelated).table, th.amce(plain).table)


def test_ratings_are_analysed_with_and_without_choices(frame):
    both = th.amce(frame, outcome="rating")
    alone = th.amce(frame.drop(columns="selected"), outcome="rating")
    pd.testing.assert_frame_equal(both.table, alone.table)
    named = th.amce(th.read(frame.drop(columns="selected"), outcome="rating"))
    pd.testing.assert_frame_equal(both.table, named.table)
    means = frame.groupby("Age")["rating"].mean()
    table = both.marginal_means.query("attribute == 'Age'").set_index("level")
    np.testing.assert_allclose(table["estimate"], means)
    said(find_check(both, "profile_order"), "Mean outcome of the first profile")


@pytest.fixture(scope="module")
def vignettes(frame):
    """Profiles that were rated one at a time, with a running number."""
    number = frame.groupby("ResponseId").cumcount() + 1
    return frame.drop(columns=["selected", "contest_no", "profile", "half"]).assign(vignette=number)


def test_profiles_rated_alone_have_the_effects_of_profiles_rated_in_tasks(frame, vignettes):
    in_tasks = th.amce(frame, outcome="rating").table
    for alone in (
        vignettes,
        vignettes.drop(columns="vignette"),
        vignettes.rename(columns={"vignette": "task"}),
    ):
        pd.testing.assert_frame_equal(th.amce(alone, outcome="rating").table, in_tasks)


def test_numberings_and_times_are_no_attributes_of_vignettes(vignettes):
    rng = np.random.default_rng(2)
    more = vignettes.rename(columns={"vignette": "vignr"})
    more = more.assign(sec=rng.uniform(3, 90, len(more)).round(1))
    plain = th.amce(vignettes, outcome="rating")
    pd.testing.assert_frame_equal(th.amce(more, outcome="rating").table, plain.table)


def test_profiles_may_be_answered_by_yes_and_no(vignettes):
    is_high = vignettes["rating"] > 4
    numbers = th.amce(vignettes.assign(rating=is_high.astype(int)), outcome="rating")
    texts = np.where(is_high, "Yes", "No").astype(object)
    words = th.amce(vignettes.assign(rating=texts), outcome="rating")
    pd.testing.assert_frame_equal(numbers.table, words.table)
    texts[3] = None
    without_one = th.amce(vignettes.assign(rating=texts), outcome="rating")
    said(without_one.findings()["data"].sentence, f"{len(texts) - 1} profiles")
    texts[3] = "maybe"
    with refused(DataError, "'rating' contains texts", "`outcome`"):
        th.amce(vignettes.assign(rating=texts), outcome="rating")


def test_ratings_without_respondents_ask_for_them(vignettes):
    frame = vignettes.rename(columns={"ResponseId": "ad"})
    with refused(DataError, "'rating'", "`respondent`"):
        th.amce(frame, outcome="rating")


def test_rated_profiles_are_sent_to_their_analysis(vignettes):
    with refused(DataError, "'rating' contains ratings", "`th.amce` with `outcome='rating'`"):
        th.read(vignettes)


def test_reliability_and_corrected_estimates():
    """Each answer is swapped with probability .1; task 6 shows task 1 in the other order."""
    frame = simulate_conjoint(600, seed=9)
    first = frame[frame["contest_no"] == 1]
    again = first.assign(contest_no=6, profile=3 - first["profile"])
    whole = pd.concat([frame, again]).sort_values(["ResponseId", "contest_no", "profile"])
    rng = np.random.default_rng(1)
    swapped = np.repeat(rng.random(len(whole) // 2) < 0.1, 2)
    noisy = whole.assign(selected=np.where(swapped, 1 - whole["selected"], whole["selected"]))
    result = th.amce(noisy, outcome="choice", repeated=("1", "6"))
    tau, tau_se, reliability = result.reliability.loc[0, ["tau", "tau_se", "reliability"]]
    assert reliability == pytest.approx(tau**2 + (1 - tau) ** 2)
    assert abs(tau - 0.1) < 4 * tau_se < 0.06
    plain = th.amce(noisy[noisy["contest_no"] < 6], outcome="choice")
    np.testing.assert_allclose(result.table["estimate"], plain.table["estimate"], atol=1e-12)
    np.testing.assert_allclose(
        result.table["corrected"], plain.table["estimate"] / (1 - 2 * tau), atol=1e-12
    )
    said(result.findings()["measurement_error"].brief.text, "`corrected` columns of the tables")
    means = result.marginal_means
    np.testing.assert_allclose(means["corrected"], (means["estimate"] - tau) / (1 - 2 * tau))
    rows = result.table[result.table["df"] > 0]
    assert (rows["corrected_se"] > rows["std_error"]).all()


@pytest.mark.long
def test_errors_of_corrected_means_are_those_of_a_bootstrap():
    frame = simulate_conjoint(200, seed=10, tasks=2)
    again = frame[frame["contest_no"] == 1].assign(contest_no=3)
    again["selected"] = np.where(
        again["ResponseId"].str[-1].isin(list("12")), 1 - again["selected"], again["selected"]
    )
    whole = pd.concat([frame, again])
    names = np.array(sorted(set(whole["ResponseId"])))
    rows_of = {name: rows for name, rows in whole.groupby("ResponseId")}
    rng = np.random.default_rng(2)

    def estimate(drawn):
        """Return the corrected mean of one level by its formula."""
        rows = pd.concat([rows_of[name].assign(copy=k) for k, name in enumerate(drawn)])
        wide = rows[rows["profile"] == 1].pivot(
            index="copy", columns="contest_no", values="selected"
        )
        reliability = (wide[1] == wide[3]).mean()
        tau = (1 - np.sqrt(2 * reliability - 1)) / 2
        kept = rows[(rows["contest_no"] < 3) & (rows["Age"] == "68")]
        return (kept["selected"].mean() - tau) / (1 - 2 * tau)

    draws = [estimate(rng.choice(names, len(names))) for _ in range(60)]
    result = th.marginal_means(whole, outcome="choice", repeated=(1, 3))
    row = result.table.query("level == '68'").iloc[0]
    assert row["corrected"] == pytest.approx(estimate(names))
    # the error of a standard deviation of 60 draws is 9 %
    assert row["corrected_se"] == pytest.approx(np.std(draws), rel=0.4)


def test_checks_find_what_is_wrong():
    frame = simulate_conjoint(150, seed=11)
    left = (frame["ResponseId"] < "R_0040").to_numpy()
    frame.loc[left, "selected"] = (frame["profile"] == 1).astype(int)[left]
    frame.loc[frame["Age"] == "35", "Age"] = "50"
    frame.loc[frame.index % 25 == 0, "Age"] = "35"
    result = th.amce(frame)
    said(find_check(result, "balance"), "not shown equally often", "Age (35")
    said(find_check(result, "one_side"), "32.7 %", "6.2 %")


def test_effects_of_one_position_alone_are_found():
    """The first profile is chosen if its age is 50, whatever the second is."""
    frame = simulate_conjoint(100, seed=12)
    first_age = frame["Age"].where(frame["profile"] == 1).ffill()
    frame["selected"] = ((first_age == "50") == (frame["profile"] == 1)).astype(int)
    result = th.amce(frame)
    assert result.checks.loc["profile_order", "p_value"] < 1e-6
    said(find_check(result, "profile_order"), "attribute effects differ")
    assert result.checks.loc["task_order", "p_value"] > 0.01


@pytest.mark.parametrize(
    "settings, kind, facts",
    [
        ({"by": "resp_part"}, DataError, ("'resp_part'", "'resp_party'")),
        ({"by": "weight"}, DataError, ("'weight'", "2 to 7")),
        ({"by": "Job"}, DataError, ("'Job'", "differs", "`by`")),
        ({"by": "profile"}, DataError, ("'profile'", "respondents or of tasks")),
        ({"weights": "resp_party"}, DataError, ("`weights`", "numbers")),
        ({"weights": [1.0, 2.0]}, ArgumentError, ("`weights`", "60")),
        ({"weights": np.full(60, -1.0)}, DataError, ("R_0000", "-1")),
        ({"outcome": "grade"}, DataError, ("'grade'",)),
        ({"baseline": {"Job": "Docter"}}, ArgumentError, ("`baseline`", "'Doctor'")),
        ({"restrictions": [("Job",)]}, ArgumentError, ("`restrictions`", "two attributes")),
        ({"restrictions": [("Job", "Agee")]}, ArgumentError, ("`restrictions`", "'Age'")),
        ({"repeated": ("1", "9")}, ArgumentError, ("`repeated`", "'5'", "'9'")),
        ({"repeated": ("1", "2")}, DataError, ("'1'", "'2'", "60 of 60", "different profiles")),
        ({"ci": 95}, ArgumentError, ("`ci`", "95")),
    ],
)
def test_settings_that_are_refused(data, settings, kind, facts):
    with refused(kind, *facts):
        th.amce(data, **settings)


def test_a_table_with_ratings_alone_needs_the_outcome(frame):
    with refused(DataError, "marks the chosen alternative", "thali.amce with `outcome='rating'`"):
        th.amce(frame.drop(columns="selected"))


def test_models_of_choices_refuse_ratings(frame):
    ratings = th.read(frame.drop(columns=["selected", "weight"]), outcome="rating")
    with refused(DataError, "ratings and no choices", "thali.amce"):
        th.MultinomialLogit().fit(ratings, progressbar=False)


def test_a_saved_result_is_the_same(by_party, tmp_path):
    by_party.save(tmp_path / "amce.nc")
    again = th.load(tmp_path / "amce.nc")
    for name, table in by_party.tables().items():
        pd.testing.assert_frame_equal(again.tables()[name], table)
    assert again.settings == by_party.settings
    assert str(again) == str(by_party)
    assert th.findings(again)["amce"].sentence == by_party.findings()["amce"].sentence


def test_findings_in_words(by_party):
    findings = by_party.findings()
    for key in ("amce", "amce_differences", "methods", "balance", "task_order"):
        # but for the versions of thali and Python
        lines = [line for line in findings[key].format_sentences() if "Python" not in line]
        said("\n".join(lines))
    assert findings["amce"].table.attrs["interval"] == 0.95
    assert set(findings.keys()) >= {"marginal_means", "mean_differences", "one_side", "data"}


@pytest.mark.parametrize("result", [th.amce, th.marginal_means])
def test_a_picture_has_a_point_per_level_and_group(data, result):
    from matplotlib import pyplot

    axes = result(data, by="resp_party").plot()
    pyplot.close(axes.figure)
    n_levels = sum(map(len, LEVELS.values()))
    points = [len(collection.get_offsets()) for collection in axes.collections]
    assert points.count(n_levels) == 2
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["Left", "Right"]


def test_nothing_of_samplers_is_loaded():
    code = (
        "import sys, pandas as pd, thali as th\n"
        "rows = {'id': [1, 1, 2, 2, 3, 3], 'task': [1] * 6, 'chosen': [1, 0, 0, 1, 1, 0],"
        " 'party': list('LRRLLR')}\n"
        "th.amce(pd.DataFrame(rows)).findings()['methods']\n"
        "wrong = ('numba', 'xarray', 'matplotlib', 'thali._compile', 'thali._worths',"
        " 'thali._aspects', 'thali._choice', 'thali._inference.markov_chains')\n"
        "sys.exit(any(name in sys.modules for name in wrong))"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True)
    assert done.returncode == 0, done.stderr


def write_survey_tool(frame):
    """Return the table as the Conjoint Survey Design Tool exports it, answers in Q1, Q2, ..."""
    rows = []
    for respondent, answers in frame.groupby("ResponseId"):
        row = {"ResponseId": respondent, "resp_party": answers["resp_party"].iloc[0]}
        for task, shown in answers.groupby("contest_no"):
            for k, name in enumerate(LEVELS, start=1):
                row[f"F-{task}-{k}"] = name
                for profile, level in zip(shown["profile"], shown[name], strict=True):
                    row[f"F-{task}-{profile}-{k}"] = level
            row[f"Q{task}"] = int(shown.loc[shown["selected"] == 1, "profile"].iloc[0])
        rows.append(row)
    return pd.DataFrame(rows)


def test_an_export_of_the_survey_tool_gives_the_same_effects(frame):
    result = th.amce(write_survey_tool(frame), by="resp_party")
    expected = th.amce(frame, by="resp_party")
    pd.testing.assert_frame_equal(result.table, expected.table)


def test_choices_of_several_tasks_in_one_row_are_refused():
    """As cregg's wide_conjoint: feature 1 of task a and profile 1 is feature1a1."""
    rng = np.random.default_rng(1)
    rows = {"respondent": range(60)}
    for feature, task, profile in itertools.product("123", "abcd", "12"):
        rows[f"feature{feature}{task}{profile}"] = rng.choice(["low", "middle", "high"], 60)
        rows[f"rating_{task}{profile}"] = rng.integers(1, 8, 60)
    rows |= {f"choice_{task}": rng.integers(1, 3, 60) for task in "abcd"}
    with refused(DataError, "'choice_a'", "'choice_d'", "one row per task", "`chosen`"):
        th.amce(pd.DataFrame(rows))
