"""What several groups find out: the columns that people read, words of their data; the sampler runs
as Python."""

import numpy as np
import pytest
import xarray as xr
from helpers.additive_fits import made_up
from helpers.problems import random_comparisons, random_similarities
from helpers.sentences import refused, said

import thali as th
from thali.errors import ArgumentError

RUN = {"draws": 20, "tune": 5, "chains": 2, "thin": 1, "random_seed": 1, "progressbar": False}
pytestmark = [
    pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning"),
    pytest.mark.usefixtures("uncompiled"),
]


def read_of(number):
    """The finding about the features of a short fit to so many groups."""
    data = {f"g{seed}": random_comparisons(3, seed) for seed in range(number)}
    return (
        th.EliminationByAspects(2, tempering=False, people=th.people.Groups())
        .fit(data, **RUN | {"draws": 6})
        .findings()["features"]
    )


@pytest.mark.fit
def test_the_probability_comes_first_and_pairs_of_few_groups_are_compared():
    read = read_of(3).main_table
    compared = ["P(g0 > g1)", "P(g0 > g2)", "P(g1 > g2)"]
    assert list(read) == [
        "probability",
        "mcse",
        "weight[g0]",
        "weight[g1]",
        "weight[g2]",
        *compared,
        "members",
    ]


@pytest.mark.fit
def test_names_of_groups_that_look_like_columns_change_nothing():
    names = ["under > 30", "weight[P(a > b)]", "chain 0 > members"]
    model = th.EliminationByAspects([[1, 0], [1, 1], [0, 1]], people=th.people.Groups())
    run = RUN | {"draws": 40, "tune": 20}
    counts = (
        [[0, 40, 40], [1, 0, 20], [1, 20, 0]],
        [[0, 20, 1], [20, 0, 1], [40, 40, 0]],
        [[0, 9, 9], [9, 0, 9], [9, 9, 0]],
    )
    each = [th.PairedComparisons(rows, list("abc")) for rows in counts]
    plain = model.fit(dict(zip("xyz", each, strict=True)), **run).findings()["features"]
    found = model.fit(dict(zip(names, each, strict=True)), **run).findings()["features"]
    assert plain.sentence.count("weighs more for") and not any(
        name in str(plain.sentence) for name in names
    )
    expected = str(plain.sentence)
    for letter, name in zip("xyz", names, strict=True):
        expected = expected.replace(f"for {letter} than", f"for {name} than").replace(
            f"than for {letter} ", f"than for {name} "
        )
    assert str(found.sentence) == expected
    np.testing.assert_array_equal(
        found.main_table.iloc[:, :-1].to_numpy(float), plain.main_table.iloc[:, :-1].to_numpy(float)
    )
    assert list(found.brief.table) == [
        "probability",
        *(f"weight[{name}]" for name in names),
        "members",
    ]


@pytest.mark.long
@pytest.mark.fit
def test_the_groups_that_do_not_fit_are_in_files():
    found = read_of(8)
    assert list(found.main_table)[-2:] == ["weight[g6]", "members"] and found.picture is None
    assert "weight[g7]" in found.table
    (note,) = found.notes
    said(note, "1 more group")


@pytest.mark.fit
def test_similarities_of_groups_are_checked_as_similarities():
    data = {name: random_similarities(3, seed) for seed, name in enumerate(("women", "men"))}
    check = (
        th.AdditiveClustering(sigma=0.1, tempering=False, people=th.people.Groups())
        .fit(data, **RUN)
        .findings()["check"]
    )
    assert check.title.startswith("Observed similarities") and check.picture.caption.startswith(
        "Observed similarities"
    )


@pytest.mark.fit
def test_the_group_in_which_an_aspect_surely_weighs_more_is_named():
    data = {name: random_comparisons(3, seed) for seed, name in enumerate(("women", "men"))}
    features = [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    model = th.EliminationByAspects(features, tempering=False, people=th.people.Groups()).fit(
        data, **RUN
    )
    posterior = model.posterior_["latent_features"].to_dataset()
    owners = posterior["features"].isel(chain=0, draw=0).values
    slot = [
        int(np.flatnonzero((owners == np.transpose(features)[k]).all(axis=1))[0]) for k in range(3)
    ]
    weights = np.ones(posterior["group_weights"].shape)  # (chain, draw, group, feature)
    axes = [posterior["group_weights"].dims.index(name) for name in ("group", "feature")]
    moved = np.moveaxis(weights, axes, (-2, -1))
    moved[:, :39, 0, slot[0]] = moved[:, 1:, 1, slot[1]] = 9.0
    moved[..., 0, slot[2]] = np.where(np.arange(moved.shape[1]) % 5 < 3, 2.0, 0.5)
    posterior["group_weights"] = posterior["group_weights"].copy(data=weights)
    model.posterior_["latent_features"] = xr.DataTree(posterior)
    sentence = str(model.findings()["features"].sentence)
    said(
        sentence,
        "The aspect shared by 0 and 1 weighs more for women",
        "The aspect shared by 0 and 2 weighs more for men",
    )
    assert sentence.count("weighs more") == 2


def ranked(women, men):
    """A fit to two groups, the sentence of its ranks, and P(option ranks higher for women), P(for
    men) by option."""
    data = {
        name: th.PairedComparisons(counts, list("abc"))
        for name, counts in (("women", women), ("men", men))
    }
    model = th.EliminationByAspects([[1]] * 3, tempering=False, people=th.people.Groups()).fit(
        data, **RUN | {"draws": 100, "tune": 50}
    )
    weights = model.posterior_["posterior"]["group_unique_weights"].values.reshape(-1, 2, 3)
    rank = (weights[..., None, :] > weights[..., None]).sum(axis=-1)  # how many options are better
    higher = [(rank[:, g] < rank[:, 1 - g]).mean(axis=0) for g in range(2)]
    return model.findings()["ranks"].sentence, *(
        dict(zip("abc", each, strict=True)) for each in higher
    )


@pytest.mark.fit
def test_options_that_surely_rank_higher_in_one_group_are_named():
    sentence, women, men = ranked(
        [[0, 40, 40], [1, 0, 20], [1, 20, 0]], [[0, 20, 1], [20, 0, 1], [40, 40, 0]]
    )
    assert women["a"] > 0.95 and men["c"] > 0.95 and max(women["b"], men["b"]) < 0.95
    assert "Some options rank higher" in sentence and " for b" not in sentence
    for option, more, less, p in (
        ("a", "women", "men", women["a"]),
        ("c", "men", "women", men["c"]),
    ):
        shown = "> 0.99" if p > 0.99 else f"{p:.2f}"
        assert f"{option} ranks higher for {more} than for {less} (probability {shown})" in sentence


@pytest.mark.long
@pytest.mark.fit
def test_where_groups_are_alike_the_likeliest_difference_is_named():
    counts = [[0, 6, 7], [4, 0, 6], [3, 4, 0]]
    sentence, women, men = ranked(counts, counts)
    p, more, option = max(
        (each[name], who, name) for who, each in (("women", women), ("men", men)) for name in each
    )
    less = "men" if more == "women" else "women"
    likeliest = f"difference: {option} ranks higher for {more} than for {less} (probability {p:.2f}"
    assert "No option clearly ranks higher" in sentence and f"{likeliest})." in sentence


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"kind": "jointmap"}, ("kind", "'expectation'", "got 'jointmap'")),
        ({"random_seed": "x"}, ("random_seed", "0; got 'x'", "got 'x'")),
        ({"cores": 0}, ("cores", "1; got 0", "got 0")),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_at_once(setting, sentence):
    with refused(ArgumentError, *sentence):
        made_up(4, draws=20).findings(**setting)
