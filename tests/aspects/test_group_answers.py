"""What models of groups of people answer, and what they refuse; the sampler runs as Python."""

import copy

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers.all_drawn import all_drawn
from helpers.plain_python import run_as_python
from helpers.problems import random_comparisons, random_similarities
from helpers.sentences import refused
from helpers.set_problems import random_choices

import thali as th
from thali._data.grouped_data import GroupedData
from thali.errors import ArgumentError, DataError

RUN = {"draws": 12, "tune": 3, "chains": 2, "thin": 1, "random_seed": 1, "progressbar": False}
pytestmark = [
    pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning"),
    pytest.mark.usefixtures("uncompiled"),
]


@pytest.fixture(scope="module")
def data():
    return {"women": random_comparisons(3, 1), "men": random_comparisons(3, 2)}


@pytest.fixture(scope="module")
def model(data):
    with run_as_python():
        return th.EliminationByAspects(people=th.people.Groups("similar"), tempering=False).fit(
            data, **RUN
        )


def pooled(data):
    """The comparisons of all groups together."""
    return th.PairedComparisons(sum(each.counts for each in data.values()), data["women"].labels)


@pytest.mark.fit
def test_features_have_a_weight_in_each_group(model):
    table = model.features(0.0)
    assert {"weight[women]", "weight_low[men]", "P(women > men)", "probability"} <= set(
        table.columns
    )
    for name in ("women", "men"):
        of_one = model.of_group(name).features(0.0)
        np.testing.assert_array_equal(table[f"weight[{name}]"], of_one["weight"])
        assert of_one["members"].tolist() == table["members"].tolist()


def test_in_which_group_a_feature_weighs_more_is_counted_over_its_draws(model):
    posterior = all_drawn(model.posterior_).stack(sample=("chain", "draw"))
    owners = posterior["features"].transpose("sample", "feature", "option").to_numpy().astype(bool)
    weights = posterior["group_weights"].transpose("sample", "group", "feature").to_numpy()
    labels = posterior["option"].to_numpy().tolist()
    shares = []
    for row in model.features(0.0).to_dict("records"):
        own = (owners == np.isin(labels, row["members"])).all(axis=2)
        women, men = (weights * own[:, None]).sum(axis=2)[own.any(axis=1)].T
        shares.append(row["P(women > men)"])
        assert shares[-1] == pytest.approx(np.mean(women > men))
    assert any(share != 0.5 for share in shares)


def test_shares_of_a_group_sum_to_one(model):
    posterior = all_drawn(model.posterior_)
    sizes = posterior["features"].sum("option")
    seen = posterior["group_weights"].where(sizes < 3, 0.0).sum("feature")
    total = seen + posterior["group_unique_weights"].sum("option")
    np.testing.assert_allclose(total, 1.0)


def test_summary_and_check_have_rows_of_every_group(model):
    rows = model.summary().index
    assert {"kappa", "n_features", "log_likelihood", "choice_probability[men][0, 1]"} <= set(rows)
    check = model.check(1)
    assert set(check["group"]) == {"women", "men"} and set(check.attrs["p_values"]) == {
        "women",
        "men",
    }
    own = model.of_group("men").check(1)
    assert len(own) == (check["group"] == "men").sum()
    ax = th.plots.check(check)
    shown = [each.get_text() for each in ax.get_yticklabels()]
    plt.close(ax.figure)
    assert len(set(shown)) == len(shown) and all(
        each.endswith(("(women)", "(men)")) for each in shown
    )


def test_the_model_of_one_group_predicts(model):
    p = model.of_group("women").predict_proba([("0", "1")])
    stored = model.posterior_["posterior"]["choice_probability"].sel(group="women").isel(pair=0)
    assert float(p[0]) == pytest.approx(float(stored.mean()))
    assert model.of_group("women").ranks().shape[0] == 3
    assert set(model.of_group("men").posterior_["observed_data"].dataset.sizes) == {"compared_pair"}


@pytest.mark.fit
def test_common_weights_are_those_of_the_pooled_data(data):
    together = th.EliminationByAspects([[1], [1], [0]], people=th.people.Groups("common")).fit(
        data, **RUN
    )
    of_all = th.EliminationByAspects([[1], [1], [0]]).fit(pooled(data), **RUN)
    assert together.posterior_["posterior"].equals(of_all.posterior_["posterior"])
    assert together.of_group("women").predict_proba([("0", "1")]).shape == (1,)


@pytest.mark.fit  # for its time
def test_ties_and_given_aspects_go_by_group():
    with_ties = th.PairedComparisons(
        [[0, 3, 1], [2, 0, 4], [1, 1, 0]], ties=[[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    )
    data = {"a": with_ties, "b": random_comparisons(3, 4)}
    model = th.EliminationByAspects([[1, 0], [1, 1], [0, 1]], people=th.people.Groups()).fit(
        data, **RUN
    )
    assert {"tie[a]", "tie[b]"} <= set(model.summary().index)
    assert model.features()["probability"].tolist() == [1.0, 1.0]


@pytest.mark.fit
def test_groups_of_similarities_have_their_own_parameters():
    data = {"a": random_similarities(4, 1), "b": random_similarities(4, 2)}
    model = th.AdditiveClustering(2, people=th.people.Groups()).fit(data, **RUN)
    assert {"constant[a]", "sigma[b]"} <= set(model.summary().index)
    assert model.of_group("b").estimate().similarity.shape == (4, 4)
    assert model.check(1)["group"].nunique() == 2
    assert model.weight_prior_[0] == 1.0


@pytest.mark.fit
def test_groups_of_choices_out_of_sets(tmp_path):
    """Each group was offered sets of its own."""
    data = {"a": random_choices(4, (2, 3), 1, kept=0.6), "b": random_choices(4, (4,), 2)}
    model = th.EliminationByAspects(2, people=th.people.Groups("similar"), tempering=False).fit(
        data, **RUN
    )
    assert (
        f"set_probability[a][{data['a'].sets[0][0]} | {', '.join(data['a'].sets[0])}]"
        in model.summary().index
    )
    assert "set_probability[b][3 | 0, 1, 2, 3]" in model.summary().index
    model.save(tmp_path / "sets.nc")
    again = th.load(tmp_path / "sets.nc")
    for name, each in data.items():
        of_one = again.of_group(name)
        stored = (
            of_one.posterior_["posterior"]["set_probability"].mean(("chain", "draw")).to_numpy()
        )
        np.testing.assert_allclose(np.concatenate(of_one.predict_proba(each)), stored)
        np.testing.assert_allclose(np.add.reduceat(stored, each.start[:-1]), 1.0)
        assert of_one.posterior_["observed_data"]["chosen"].values.tolist() == each.counts.tolist()
        assert of_one.posterior_["log_likelihood"]["chosen"].sizes["set"] == each.n_sets
        assert len(of_one.check(1)) == (again.check(1)["group"] == name).sum()
    whole = again.posterior_["log_likelihood"]["chosen"].sum("set")
    np.testing.assert_allclose(whole, again.posterior_["posterior"]["log_likelihood"])


@pytest.mark.fit  # for its time
def test_one_group_may_have_been_offered_pairs_alone():
    data = {"a": random_choices(3, (2,), 1), "b": random_choices(3, (2, 3), 2)}
    by_group = th.EliminationByAspects([[1], [1], [0]], people=th.people.Groups())
    together = th.EliminationByAspects([[1], [1], [0]], people=th.people.Groups()).fit(data, **RUN)
    assert together.posterior_["constant_data"]["kind"].item().startswith("choices from sets")
    assert any(name.startswith("set_probability[b]") for name in together.summary().index)
    pairs = th.EliminationByAspects([[1], [1], [0]], people=th.people.Groups()).fit(
        {"a": data["a"], "b": data["a"]}, **RUN
    )
    of_pairs = {name: data["a"].to_comparisons() for name in "ab"}
    assert pairs.posterior_["posterior"].equals(
        by_group.fit(of_pairs, **RUN).posterior_["posterior"]
    )


@pytest.mark.fit
def test_common_choices_are_those_of_all():
    data = {"a": random_choices(3, (2, 3), 1), "b": random_choices(4, (2, 3), 2)}
    pooled = GroupedData(data).pooled()
    assert pooled.n_choices == data["a"].n_choices + data["b"].n_choices
    together = th.EliminationByAspects(people=th.people.Groups("common")).fit(data, **RUN)
    assert together.posterior_["posterior"].equals(
        th.EliminationByAspects().fit(pooled, **RUN).posterior_["posterior"]
    )


@pytest.mark.fit
def test_best_and_worst_of_four_are_refused():
    rows = {f"item{k}": [str(k)] for k in range(4)} | {"best": ["0"], "worst": ["3"]}
    data = th.Choices.from_best_worst(pd.DataFrame(rows))
    with refused(DataError, "4 options", "limited to 3", "BradleyTerryLuce"):
        th.EliminationByAspects([[1], [1], [0]], people=th.people.Groups()).fit(
            {"a": data, "b": data}, **RUN
        )
    with refused(DataError, "best-worst choices and"):
        th.EliminationByAspects(people=th.people.Groups("common")).fit(
            {"a": data, "b": random_choices(3, (2, 3), 1)}, **RUN
        )


@pytest.mark.parametrize(("groups", "levels"), [(1, None), (2, 8), (11, None)])
def test_a_few_groups_are_tempered(groups, levels, data):
    of_groups = {str(g): data["men"] for g in range(groups)}
    task = (
        th.EliminationByAspects(people=th.people.Groups()).prepare(of_groups, draws=1, tune=0).task
    )
    assert len(task.temperatures) == (levels or 1)


def test_weights_are_for_groups(data):
    with refused(DataError, "people=Groups()"):
        th.EliminationByAspects(people=th.people.Groups()).fit(data["men"], **RUN)
    with refused(ArgumentError, "average the data"):
        th.AdditiveClustering(people=th.people.Groups("common")).fit(
            {"a": th.datasets.numbers()}, **RUN
        )


def test_an_error_of_one_group_names_it(data):
    with_ties = th.PairedComparisons([[0, 3], [2, 0]], ties=[[0, 1], [1, 0]])
    with refused(DataError, "6 comparisons"):
        th.likelihoods.Elimination().check(th.priors.IndianBuffet(), with_ties)


@pytest.mark.parametrize("answer", ["ranks", "unique_weights"])
def test_answers_of_one_group_are_refused_of_several(model, answer):
    with refused(ArgumentError, "of_group('women')"):
        getattr(model, answer)()
    with refused(ArgumentError, "'x'", "'women'", "'men'"):
        model.of_group("x")


def test_ranks_are_those_of_each_group(model):
    found = model.findings()["ranks"]
    women = model.of_group("women").ranks()
    table = found.table.loc["women"].set_index("option")
    assert table.loc[women.index, "rank"].tolist() == women["rank"].tolist()
    best = {
        name: model.of_group(name).ranks(every_rank=True)["p_1"].idxmax()
        for name in ("women", "men")
    }
    assert (
        all(
            f"{option} by {name} (probability " in str(found.sentence)
            for name, option in best.items()
        )
        and found.leads
    )


@pytest.mark.fit
@pytest.mark.usefixtures("pictures")
def test_the_picture_has_a_line_a_feature(model):
    shared = model.features()["members"].map(len).between(2, 2).sum()
    axes = model.plot("group_weights")
    assert len(axes.get_yticklabels()) == min(shared, 12)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["women", "men"]
    with refused(ArgumentError, "attrs['groups']"):
        th.plots.group_weights(model.of_group("men").features())


@pytest.mark.fit
def test_a_saved_model_of_an_unknown_kind_of_data_is_refused(model, tmp_path):
    of_another_time = copy.copy(model)
    of_another_time.posterior_ = model.posterior_.copy()
    constant = model.posterior_["constant_data"].to_dataset()
    of_another_time.posterior_["constant_data"] = xr.DataTree(
        constant.assign(kind="ratings of objects")
    )
    of_another_time.save(tmp_path / "model.nc")
    with pytest.raises(DataError, match=f"{th.__version__}.*'ratings of objects'"):
        th.load(tmp_path / "model.nc")
