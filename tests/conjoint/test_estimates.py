"""Effects and marginal means against dense regressions and formulas of clustered errors."""

import numpy as np
import pandas as pd
import pytest
from helpers.conjoint_studies import LEVELS, read_conjoint, simulate_conjoint
from helpers.naive.conjoint_effects import build_cells, degrees_of_freedom, effect_contrast, regress

import thali as th

pytestmark = pytest.mark.fit
ATTRIBUTES = list(LEVELS)
STUDIES = {
    "plain": {"respondents": 45, "seed": 1},
    "restricted": {"respondents": 60, "restricted": True, "seed": 2},
    "weighted": {"respondents": 80, "seed": 3},
    "many": {"respondents": 230, "seed": 4, "tasks": 3},
}


def fit_naively(frame, linked, weights):
    """Return the naive regression of a table, its design and its arrays."""
    design = build_cells(frame, ATTRIBUTES, linked)
    arrays = frame["selected"].to_numpy(float), weights, frame["ResponseId"].to_numpy()
    return regress(design, *arrays), design


def compare_effects(table, frame, linked, weights):
    """Assert that the table has the naive estimates, errors and degrees of freedom."""
    fit, design = fit_naively(frame, linked, weights)
    rows = table[table["level"] != table["baseline"]]
    assert len(rows) == sum(len(labels) - 1 for labels in LEVELS.values())
    for _, row in rows.iterrows():
        names = row["attribute"], row["level"], row["baseline"]
        contrast = effect_contrast(frame, ATTRIBUTES, linked, *names)
        assert row["estimate"] == pytest.approx(contrast @ fit["beta"], abs=1e-9)
        error = np.sqrt(contrast @ fit["CR2"] @ contrast)
        assert row["std_error"] == pytest.approx(error, abs=1e-9)
        if frame["ResponseId"].nunique() < 200:
            df = degrees_of_freedom(design, weights, frame["ResponseId"].to_numpy(), contrast)
            assert row["df"] == pytest.approx(df, rel=1e-6)


@pytest.mark.parametrize("name", ["plain", "restricted", "many"])
def test_effects_are_those_of_a_dense_regression(name):
    frame = simulate_conjoint(**STUDIES[name])
    linked = ["Education", "Job"] if name == "restricted" else []
    result = th.amce(read_conjoint(frame))
    compare_effects(result.table, frame, linked, np.ones(len(frame)))


def test_effects_of_weighted_subgroups_are_those_of_separate_regressions():
    frame = simulate_conjoint(**STUDIES["weighted"])
    result = th.amce(read_conjoint(frame), by="resp_party", weights="weight")
    for group, rows in result.table.groupby("group"):
        part = frame[frame["resp_party"] == group]
        compare_effects(rows, part, [], part["weight"].to_numpy(float))
    merged = result.table.pivot(index=["attribute", "level"], columns="group")
    differences = result.effect_differences.set_index(["attribute", "level"])
    expected = merged["estimate"]["Right"] - merged["estimate"]["Left"]
    pd.testing.assert_series_equal(
        differences["estimate"].sort_index(), expected.sort_index(), check_names=False
    )
    errors = np.hypot(merged["std_error"]["Right"], merged["std_error"]["Left"])
    pd.testing.assert_series_equal(
        differences["std_error"].sort_index(), errors.sort_index(), check_names=False
    )


def test_joint_test_is_approximate_hotelling():
    """F of the differences, with the degrees of freedom of a Wishart matrix of equal variances."""
    frame = simulate_conjoint(**STUDIES["plain"])
    result = th.amce(read_conjoint(frame), by="resp_party")
    design = build_cells(frame, ATTRIBUTES, [])
    is_right = (frame["resp_party"] == "Right").to_numpy()[:, None]
    interacted = np.concatenate([design * ~is_right, design * is_right], axis=1)
    clusters = frame["ResponseId"].to_numpy()
    fit = regress(interacted, frame["selected"].to_numpy(float), np.ones(len(frame)), clusters)
    rows = result.effect_differences.query("level != baseline")
    single = np.stack(
        [
            effect_contrast(frame, ATTRIBUTES, [], *names)
            for names in rows[["attribute", "level", "baseline"]].itertuples(index=False)
        ],
        axis=1,
    )
    contrasts = np.concatenate([-single, single])
    q = contrasts.shape[1]
    values = fit["beta"] @ contrasts
    wald = values @ np.linalg.solve(contrasts.T @ fit["CR2"] @ contrasts, values)
    assert result.joint_test.loc[0, "df"] == q
    df_residual = result.joint_test.loc[0, "df_residual"]
    df = df_residual + q - 1
    assert result.joint_test.loc[0, "statistic"] == pytest.approx(df_residual / (df * q) * wald)


@pytest.mark.parametrize("by", [None, "resp_party"])
def test_marginal_means_are_weighted_means(by):
    frame = simulate_conjoint(**STUDIES["weighted"])
    result = th.marginal_means(read_conjoint(frame), by=by, weights="weight")
    groups = [("", frame)] if by is None else list(frame.groupby(by))
    for group, part in groups:
        for name in ATTRIBUTES:
            design = pd.get_dummies(part[name]).astype(float)
            arrays = part["selected"].to_numpy(float), part["weight"].to_numpy(float)
            fit = regress(design.to_numpy(), *arrays, part["ResponseId"].to_numpy())
            rows = result.table[result.table["attribute"] == name]
            if by is not None:
                rows = rows[rows["group"] == group]
            assert rows["level"].tolist() == list(design)
            np.testing.assert_allclose(rows["estimate"], fit["beta"], atol=1e-9)
            np.testing.assert_allclose(
                rows["std_error"], np.sqrt(np.diagonal(fit["CR2"])), atol=1e-9
            )


# statsmodels 0.15.0: WLS(...).fit(cov_type="cluster", cov_kwds={"groups": ..., "use_correction":
# ...}) of `STUDIES`; for weights those of the party Left
STATSMODELS = {
    "plain": (
        [0.05123588216251071, 0.06118455310394473, 0.061621073605794364, 0.056481963928659534],
        [0.05234207905459894, 0.06250554455818993, 0.06295148965862357, 0.05770142517963882],
    ),
    "restricted": (
        [0.03885614993376651, 0.053864384502520866, 0.046181153766265214, 0.048096269488140726],
        [0.039582547920483054, 0.05487135458383496, 0.04704448935605587, 0.04899540729217729],
    ),
    "weighted": (
        [0.05569485645750663, 0.058465326128017095, 0.07194585342072927, 0.06136873082325007],
        [0.05729813109426069, 0.06014835361875355, 0.07401694165662567, 0.06313533793702858],
    ),
}


@pytest.mark.parametrize("name", STATSMODELS)
def test_the_dense_regression_has_the_errors_of_statsmodels(name):
    frame = simulate_conjoint(**STUDIES[name])
    linked = ["Education", "Job"] if name == "restricted" else []
    weights = np.ones(len(frame))
    if name == "weighted":
        frame = frame[frame["resp_party"] == "Left"]
        weights = frame["weight"].to_numpy(float)
    fit, _ = fit_naively(frame, linked, weights)
    levels = [("Gender", "Male"), ("Age", "50"), ("Age", "68"), ("Party", "Right")]
    bases = {"Gender": "Female", "Age": "35", "Party": "Left"}
    for kind, errors in zip(("CR0", "CR1"), STATSMODELS[name], strict=True):
        for (attribute, level), error in zip(levels, errors, strict=True):
            names = attribute, level, bases[attribute]
            contrast = effect_contrast(frame, ATTRIBUTES, linked, *names)
            assert np.sqrt(contrast @ fit[kind] @ contrast) == pytest.approx(error, abs=1e-10)


def test_marginal_means_are_the_shares_chosen_where_shown():
    data = read_conjoint(simulate_conjoint(**STUDIES["plain"]))
    model = th.MultinomialLogit().fit(th.read(strip(STUDIES["plain"])), progressbar=False)
    levels = model.findings()["levels"].table.set_index(["attribute", "level"])
    means = th.marginal_means(data).table.set_index(["attribute", "level"])
    pd.testing.assert_series_equal(
        means["estimate"], levels["chosen_where_shown"], check_names=False
    )
    assert means["profiles"].tolist() == levels["times_shown"].tolist()


def strip(study):
    """Return the table of a study without ratings and weights, as models of choices read it."""
    return simulate_conjoint(**study).drop(columns=["rating", "weight", "half"])
