"""The models as users call them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.all_drawn import all_drawn
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError, DataError, DataWarning, ThaliWarning

pytestmark = pytest.mark.fit

QUICK = {"draws": 60, "tune": 60, "chains": 2, "thin": 2, "random_seed": 1, "progressbar": False}


@pytest.fixture(scope="module")
def data():
    return th.datasets.celebrities()


def quick(model, data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        return model.fit(data, **(QUICK | more))


GROUPS = {
    "LBJ": ["politician"], "HW": ["politician"], "CDG": ["politician"], "JU": ["athlete"], "CY": ["athlete"],
    "AJF": ["athlete"], "BB": ["star"], "ET": ["star"], "SL": ["star"],
}  # fmt: skip


def matrix():
    return np.repeat(np.eye(3, dtype=int), 3, axis=0)


@pytest.mark.parametrize(
    "aspects",
    [GROUPS, matrix(), pd.DataFrame(matrix()[::-1], index=list(GROUPS)[::-1])],
    ids=["mapping", "matrix", "frame"],
)
def test_given_aspects_are_the_features_with_probability_one(data, aspects):
    model = quick(th.EliminationByAspects(aspects), data, draws=500, tune=500)
    features = model.features()
    assert set(features["members"]) == {
        ("LBJ", "HW", "CDG"),
        ("JU", "CY", "AJF"),
        ("BB", "ET", "SL"),
    }
    assert (features["probability"] == 1.0).all()
    if isinstance(aspects, dict):
        named = dict(zip(features["aspect"], features["members"], strict=True))
        assert named["star"] == ("BB", "ET", "SL") and len(named) == 3
    elif isinstance(aspects, pd.DataFrame):
        assert set(features["aspect"]) == {"0", "1", "2"}
    else:
        assert "aspect" not in features
    # the maximum-likelihood tree model has log-likelihood -118.99 with lapses of .01
    assert -135.0 < model.summary().loc["log_likelihood", "mean"] < -118.9
    assert "alpha" not in model.summary().index


def test_a_mapping_may_name_one_aspect_by_a_string(data):
    model = quick(
        th.EliminationByAspects({label: owned[0] for label, owned in GROUPS.items()}), data
    )
    assert len(model.features()) == 3


def test_a_combination_of_parts_equals_the_named_model(data):
    same = quick(
        th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Elimination(0.01)), data
    )
    assert same.summary().equals(quick(th.EliminationByAspects(), data).summary())


def test_unique_weights_are_means_over_the_draws(data):
    model = quick(th.EliminationByAspects("unique"), data)
    table = model.unique_weights()
    assert list(table.index) == list(data.labels) and table["share"].sum() == pytest.approx(1.0)
    drawn = model.posterior_["posterior"]["unique_weights"].values.reshape(-1, 9)
    assert table["weight"].to_numpy() == pytest.approx(drawn.mean(0))
    assert table["share"].to_numpy() == pytest.approx((drawn / drawn.sum(1, keepdims=True)).mean(0))
    # columns of a single option count with its unique weight
    model = quick(th.EliminationByAspects(), data)
    posterior = all_drawn(model.posterior_)
    single = posterior["features"].sum("option") == 1
    alone = posterior["unique_weights"] + (
        posterior["features"] * (posterior["weights"] * single)
    ).sum("feature")
    assert model.unique_weights()["weight"].to_numpy() == pytest.approx(
        alone.mean(("chain", "draw")).values
    )


def test_predictions_follow_the_order_of_the_pair(data):
    model = quick(th.EliminationByAspects(), data)
    ab, ba = model.predict_proba([("LBJ", "SL"), ("SL", "LBJ")])
    assert ab + ba == pytest.approx(1.0)
    stored = model.posterior_["posterior"]["choice_probability"]
    stored = stored.sel(pair="LBJ, SL")
    assert ab == pytest.approx(float(stored.mean()))


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ({"aspects": "unique", "unique": False}, ("No option has",)),
        ({"aspects": np.ones((8, 2))}, ("8 rows", "9 options")),
        ({"aspects": np.full((9, 2), 0.5)}, ("0/1 matrix", "1")),
        ({"aspects": {**GROUPS, "XY": []}}, ("'XY'",)),
        ({"aspects": {"LBJ": ["politician"]}}, ("'HW'",)),
        ({"aspects": pd.DataFrame(matrix()[:8], index=list(GROUPS)[:8])}, ("'SL'",)),
        ({"aspects": pd.DataFrame(matrix(), index=["LBJ", *list(GROUPS)[:8]])}, ("'LBJ'",)),
        ({"aspects": {label: [] for label in GROUPS}, "unique": False}, ("No option has",)),
        ({"alpha": 1e90}, ("implies a prior", "features")),
        ({"aspects": matrix(), "alpha": 1.0}, ("`alpha` does not",)),
        ({"unique": False, "lapse": 0.0}, ("with", "unique=False")),
    ],
)
def test_bad_arguments_of_elimination_by_aspects_are_refused(data, arguments, sentence):
    with refused(ArgumentError, *sentence):
        th.EliminationByAspects(**arguments).fit(data, **QUICK)


def test_bad_weight_priors_are_refused(data):
    for prior in ((0.0, 1.0), (1.0, -1.0), 3.0, (1.0,), (0.05, 1.0)):
        with pytest.raises(ArgumentError, match="weight_prior"):
            model = th.LatentFeatureModel(
                th.priors.IndianBuffet(), th.likelihoods.Elimination(), weight_prior=prior
            )
            model.fit(data, **QUICK)


def test_other_objects_than_a_prior_and_a_likelihood_are_refused(data):
    with pytest.raises(ArgumentError, match="'ibp' is neither a prior"):
        th.LatentFeatureModel("ibp", th.likelihoods.Elimination()).fit(data)


def test_equal_seeds_of_any_type_give_equal_draws(data):
    """Whole numbers, sequences and generators; a sequence gives the same draws every time."""
    sequence = np.random.SeedSequence(5)
    seeds = (5, np.int64(5), sequence, sequence)
    fits = [quick(th.EliminationByAspects(), data, random_seed=seed).summary() for seed in seeds]
    assert all(fit.equals(fits[0]) for fit in fits)
    generator = quick(
        th.EliminationByAspects(), data, random_seed=np.random.default_rng(5)
    ).summary()
    again = quick(th.EliminationByAspects(), data, random_seed=np.random.default_rng(5)).summary()
    assert generator.equals(again)


@pytest.mark.long
@pytest.mark.parametrize("rate", [1e-6, pytest.param(1.0, marks=pytest.mark.long), 1e12])
def test_the_scale_of_the_weights_does_not_matter(rate):
    two = th.PairedComparisons([[0, 3], [1, 0]])
    likelihood = th.likelihoods.Elimination(0.01, unique=False)
    model = th.LatentFeatureModel(
        th.priors.IndianBuffet(), likelihood, weight_prior=(1.0, rate), alpha=3.0
    )
    quick(model, two, draws=1500, chains=4, tune=200, thin=5)
    row = model.summary().loc["choice_probability[0, 1]"]
    assert abs(row["mean"] - 0.6524021) < 4.0 * row["mcse_mean"]


def test_a_plain_mapping_is_refused_as_data():
    with refused(DataError, "1 group", "each group separately"):
        th.EliminationByAspects().fit({"tea": 1})


@pytest.mark.parametrize(
    "pairs, sentence",
    [
        ([("LBJ", "XX")], ("0 of the list contains", "'XX'")),
        ([("LBJ", "HW"), ("HW", "HW")], ("1 compares", "'HW'")),
        ([("LBJ",)], ("0", "a pair of labels")),
        (["LBJ"], ("0 is", "'LBJ'")),
    ],
)
def test_pairs_with_unknown_options_are_refused_by_predict_proba(data, pairs, sentence):
    model = quick(th.EliminationByAspects("unique"), data)
    with refused(ArgumentError, *sentence):
        model.predict_proba(pairs)


def test_disconnected_comparisons_fit_and_warn():
    data = th.PairedComparisons(
        [[0, 9, 0, 0], [1, 0, 0, 0], [0, 0, 0, 5], [0, 0, 5, 0]], labels=list("abcd")
    )
    with pytest.warns(DataWarning, match="'a' and 'b'"):
        model = th.EliminationByAspects().fit(data, **(QUICK | {"draws": 4000, "chains": 4}))
    p = model.predict_proba([("a", "b"), ("c", "d"), ("a", "c")])
    assert p == pytest.approx([0.828, 0.5, 0.603], abs=0.02)


@pytest.mark.long
def test_without_lapses_contradicting_nested_aspects_never_give_nan(in_plain_python):
    in_plain_python("GivenColumns", "PairsWithoutUnique")
    # option b has all aspects of a and one more, yet a was chosen once
    data = th.PairedComparisons([[0, 1, 3], [9, 0, 2], [4, 5, 0]], labels=list("abc"))
    nested = {"a": ["x"], "b": ["x", "y"], "c": ["z"]}
    model = quick(th.EliminationByAspects(nested, lapse=0.0), data)
    assert np.isfinite(model.posterior_["posterior"]["log_likelihood"]).all()
    with refused(ArgumentError, "'a'", "'b'"):
        th.EliminationByAspects(nested, lapse=0.0, unique=False).fit(data, **QUICK)
    model = quick(th.EliminationByAspects(nested, unique=False), data)
    assert np.isfinite(model.posterior_["posterior"]["log_likelihood"]).all()
    possible = th.PairedComparisons([[0, 0, 3], [9, 0, 2], [4, 5, 0]], labels=list("abc"))
    model = quick(th.EliminationByAspects(nested, lapse=0.0, unique=False), possible)
    assert np.isfinite(model.posterior_["posterior"]["log_likelihood"]).all()


def test_sets_of_aspects_have_one_order(tmp_path):
    """The order of a set of texts differs from process to process; a job goes on with the sorted
    ones."""
    owned = {"a": {"tall", "old", "red"}, "b": {"old"}, "c": {"red", "old"}}
    listed = {label: sorted(aspects) for label, aspects in owned.items()}
    data = th.PairedComparisons([[0, 3, 1], [2, 0, 4], [1, 2, 0]], labels=list("abc"))
    of_sets, of_lists = (
        quick(
            th.EliminationByAspects(aspects), data, draws=6, tune=2, chains=1, job=tmp_path / "job"
        )
        for aspects in (owned, listed)
    )
    assert of_sets.features().index.tolist() == of_lists.features().index.tolist()
    drawn = [all_drawn(each.posterior_) for each in (of_sets, of_lists)]
    assert drawn[0].identical(drawn[1])


def test_a_tree_is_a_prior():
    data = th.datasets.paris_rome(expected=True)
    tree = th.Tree.from_groups({"Paris": ["P", "P+"], "Rome": ["R", "R+"]}, 0.3)
    budget = {"draws": 200, "tune": 100, "random_seed": 1, "progressbar": False}
    elimination = th.likelihoods.Elimination(lapse=0.01)
    models = [
        th.LatentFeatureModel(tree, elimination),
        th.LatentFeatureModel(th.priors.PhylogeneticBuffet(tree), elimination),
        th.EliminationByAspects(tree),
    ]
    tables = [model.fit(data, **budget).features() for model in models]
    assert tables[0].equals(tables[1]) and tables[0].equals(tables[2])
    assert tables[0]["place"].iloc[:2].tolist() == ["clade Paris", "clade Rome"]


def test_leaves_must_be_the_options():
    tree = th.Tree.from_groups({"Paris": ["P", "P+"], "Rome": ["R", "Q"]})
    with pytest.raises(DataError, match="'Q'") as error:
        th.EliminationByAspects(tree).fit(th.datasets.paris_rome(expected=True))
    assert "'R+'" in str(error.value)
