"""What several groups find out: the columns that people read, words of their data; the sampler runs as Python."""

import pytest
from additive_fits import made_up
from problems import random_comparisons, random_similarities

import thali as th
from thali.errors import ArgumentError
from thali.model.latent_features.findings.groups import MAX_GROUPS

RUN = {"draws": 20, "tune": 5, "chains": 2, "thin": 1, "random_seed": 1, "progressbar": False}
pytestmark = [
    pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning"),
    pytest.mark.usefixtures("uncompiled"),
]


def read_of(number):
    """The finding about the features of a fit to so many groups."""
    data = {f"g{seed}": random_comparisons(3, seed) for seed in range(number)}
    return th.EliminationByAspects(2, tempering=False).fit(data, **RUN).findings()["features"]


@pytest.mark.fit
def test_the_probability_comes_first_and_pairs_of_few_groups_are_compared():
    read = read_of(3).to_read
    compared = ["P(g0 > g1)", "P(g0 > g2)", "P(g1 > g2)"]
    assert list(read) == ["probability", "mcse", "weight[g0]", "weight[g1]", "weight[g2]", *compared, "members"]


@pytest.mark.fit
def test_the_groups_that_do_not_fit_are_in_files():
    found = read_of(MAX_GROUPS + 1)
    assert list(found.to_read)[-2:] == [f"weight[g{MAX_GROUPS - 1}]", "members"] and found.picture is None
    assert f"weight[g{MAX_GROUPS}]" in found.table
    assert found.notes == ("The table of aspects in files has 1 more group.",)


@pytest.mark.fit
def test_similarities_of_groups_are_checked_as_similarities():
    data = th.Groups({name: random_similarities(3, seed) for seed, name in enumerate(("women", "men"))})
    check = th.AdditiveClustering(sigma=0.1, tempering=False).fit(data, **RUN).findings()["check"]
    assert check.title.startswith("Observed similarities") and check.picture.caption.startswith("Observed similarities")


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"kind": "jointmap"}, "kind must be one of 'expectation', .*; got 'jointmap'"),
        ({"random_seed": "x"}, "random_seed must be a whole number of 0 or more; got 'x'"),
        ({"cores": 0}, "cores must be a whole number of 1 or more; got 0"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_at_once(setting, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        made_up(4, draws=20).findings(**setting)
