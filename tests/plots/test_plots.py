"""The pictures: what they show, that nothing overlaps, and that they leave matplotlib as it was."""

import dataclasses
import functools
import inspect
import re
import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from helpers.drawn_pictures import CELEBRITIES, LONG, MULTIMODAL, assert_readable
from helpers.posterior_cases import chain, comparisons
from matplotlib import pyplot as plt

import thali as th
from thali import plots
from thali._aspects.draws.posterior_tree import build_datatree
from thali.errors import ArgumentError


def simulate_fit(
    n_options, labels=None, draws=100, chains=4, learned_alpha=True, unique=True, share=1.0, **draw
):
    data = comparisons(n_options, labels=labels, share=share)
    drawn = [
        chain(n_options, draws=draws, seed=seed, unique=unique, **draw) for seed in range(chains)
    ]
    tree = build_datatree(
        drawn, data, th.likelihoods.Elimination(0.01, unique), is_alpha_learned=learned_alpha
    )
    return build_model(tree, unique)


def build_model(tree, unique=True):
    model = th.EliminationByAspects(unique=unique)
    model.posterior_ = tree
    return model


@pytest.fixture(scope="module")
def celebrities():
    return simulate_fit(9, CELEBRITIES, common=[(0, 1, 2), (3, 4, 5), (6, 7, 8)])


DRAWN = {  # what each picture of a fit draws
    "features": lambda model: model.features(),
    "predictions": lambda model: model.findings()["choice_probabilities"].table,
    "check": lambda model: model.check(),
    "ranks": lambda model: model.ranks(every_rank=True),
}
CASES = {
    "forty long names": lambda: simulate_fit(40, LONG, draws=40, common=[(0, 1, 2)]),
    "nine": lambda: simulate_fit(9, CELEBRITIES, common=[(0, 1, 2), (3, 4, 5), (6, 7, 8)]),
    "awkward names": lambda: simulate_fit(4, MULTIMODAL, common=[(0, 1)], unique=False),
    "no features": lambda: simulate_fit(3, mean_features=0.0, learned_alpha=False),
    "more options than labels": lambda: simulate_fit(200, draws=3, chains=2, common=[(0, 5)]),
    "four": lambda: simulate_fit(4, ["P+", "P", "R", "R+"], common=[(0, 1), (2, 3)]),
    "forty": lambda: simulate_fit(
        40, draws=40, common=[tuple(range(start, 40, 5)) for start in range(5)]
    ),
    "neither features nor unique aspects": lambda: simulate_fit(2, mean_features=0.0, unique=False),
    "one chain, one draw": lambda: simulate_fit(3, chains=1, draws=1),
    "many chains": lambda: simulate_fit(3, chains=12),
    "too many options for dense features": lambda: simulate_fit(70, draws=10, common=[(0, 5)]),
}


def draw_picture(picture, model, **settings):
    return getattr(plots, picture)(DRAWN[picture](model), **settings)


@functools.cache
def build_case(name):
    return CASES[name]()


@pytest.mark.long
@pytest.mark.filterwarnings("error")
@pytest.mark.first(len(DRAWN))
@pytest.mark.parametrize("picture", DRAWN)
@pytest.mark.parametrize("case", CASES)
def test_every_text_is_inside_the_figure_and_none_overlaps(case, picture, monkeypatch):
    axes = np.ravel(draw_picture(picture, build_case(case)))
    assert_readable(axes[0], monkeypatch, least=3, smallest=6)


def test_feature_matrix_shows_probability_times_weight(celebrities):
    ax = draw_picture("features", celebrities, max_features=6)
    every = celebrities.features()
    table = every[every["members"].map(len).between(2, 8) & (every["probability"] >= 0.1)].head(6)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == CELEBRITIES
    names = [tick.get_text() for tick in ax.get_xticklabels()]
    assert (
        names == ["alone", *(f"{probability:.2f}" for probability in table["probability"])]
        and len(names) > 2
    )
    shown, own = (
        np.ma.asarray(mesh.get_array()).filled(np.nan).reshape(9, -1) for mesh in ax.collections[:2]
    )
    for column, row in enumerate(table.to_dict("records")):
        owns = [label in row["members"] for label in CELEBRITIES]
        np.testing.assert_array_equal(np.isfinite(shown[:, column]), owns)
        np.testing.assert_allclose(shown[owns, column], row["probability"] * row["weight"])
    expected = celebrities.posterior_["posterior"]["unique_weights"].mean(("chain", "draw")).values
    single = every[every["members"].map(len) == 1]
    for (member,), probability, weight in zip(
        single["members"], single["probability"], single["weight"], strict=True
    ):
        expected[CELEBRITIES.index(member)] += probability * weight
    np.testing.assert_allclose(own[:, 0], expected)
    assert ax.yaxis_inverted()  # the first option is at the top, as the rows of the arrays


def test_features_that_are_improbable_or_of_all_options_are_not_drawn():
    table = simulate_fit(4, unique=False, common=[(0, 1)]).features()
    table["members"] = [
        ("0", "1"),
        ("0", "1", "2", "3"),
        ("2", "3"),
        *[("0", "2")] * (len(table) - 3),
    ]
    table["probability"] = [0.9, 0.8, 0.3, *[0.09] * (len(table) - 3)]
    ax = plots.features(table)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.90", "0.30"]
    assert ax.get_xlim() == (0, 2) and len(ax.collections) == 1


@pytest.mark.parametrize(
    ("most", "ticks"),
    [
        (1, [1]),
        (12, [*range(1, 13)]),
        (13, [1, 5, 10]),
        (40, [1, 5, 10, 15, 20, 25, 30, 35, 40]),
        (120, [1, *range(10, 121, 10)]),
    ],
)
def test_ticks_of_ranks_are_evenly_spaced_integers(most, ticks):
    table = pd.DataFrame({"rank": np.arange(1.0, most + 1)}, index=[f"o{k}" for k in range(most)])
    for column, value in {"rank_low": table["rank"], "rank_high": table["rank"]}.items():
        table[column] = value
    table = table.assign(
        **{f"p_{k}": (table["rank"] == k).astype(float) for k in range(1, most + 1)}
    )
    assert [float(tick) for tick in plots.ranks(table).get_xticks()] == ticks


def test_improbable_ranks_are_almost_white(celebrities):
    ax = draw_picture("ranks", celebrities)
    assert (
        ax.get_xticks().tolist() == [*range(1, 10)]
        and ax.get_xlabel() == "rank (mean and 89 % interval)"
    )
    colours = ax.images[0].get_cmap()(np.linspace(0, 1, 11))[:, :3].sum(axis=1)
    assert colours[0] > 2.9 and (np.diff(colours) < 0).all()


def test_cells_without_a_feature_are_white_and_others_are_not(celebrities):
    for mesh in draw_picture("features", celebrities).collections[:2]:
        shades = mesh.get_cmap()
        assert shades.get_bad().tolist() == [1, 1, 1, 1]
        assert sum(shades(0.0)[:3]) < 2.8


def test_predictions_are_at_the_posterior_mean_and_the_observed_proportion(celebrities):
    ax = draw_picture("predictions", celebrities)
    tree = celebrities.posterior_
    predicted = tree["posterior"]["choice_probability"].mean(("chain", "draw"))
    wins, losses = tree["observed_data"]["wins"], tree["constant_data"]["losses"]
    points = np.asarray(ax.collections[-1].get_offsets())
    np.testing.assert_allclose(
        points, np.transpose([predicted, wins / (wins + losses)]), rtol=1e-12
    )


def test_the_worst_pairs_are_named_by_standardised_misfit():
    rng = np.random.default_rng(3)
    data = th.PairedComparisons(
        rng.integers(1, 20, (6, 6)) * (1 - np.eye(6)), labels=list("abcdef")
    )
    drawn = chain(6, draws=20, mean_features=0.0)
    drawn = dataclasses.replace(drawn, unique_weights=drawn.unique_weights * 5.0 ** np.arange(6))
    tree = build_datatree([drawn], data, th.likelihoods.Elimination(0.01), is_alpha_learned=True)
    predicted = tree["posterior"].to_dataset()["choice_probability"].mean(("chain", "draw")).values
    n = data.wins + data.losses
    misfit = np.abs(data.wins / n - predicted) / np.sqrt(predicted * (1 - predicted) / n)
    worst = np.argsort(-misfit)[:5]
    expected = [
        f"{data.labels[data.first[pair]]} over {data.labels[data.second[pair]]}" for pair in worst
    ]
    legend = draw_picture("predictions", build_model(tree)).get_legend()
    assert legend is not None
    assert [text.get_text().split("\n")[0] for text in legend.get_texts()] == expected


def test_of_very_many_pairs_the_most_compared_are_shown():
    counts = np.triu(np.full((70, 70), 9), 1) + np.tril(np.ones((70, 70)), -1)
    counts[:10][counts[:10] == 9] = 1  # 645 of the 2,415 pairs were compared twice only, 1 : 1
    data = th.PairedComparisons(counts)
    tree = build_datatree(
        [chain(70, draws=5)], data, th.likelihoods.Elimination(0.01), is_alpha_learned=True
    )
    ax = draw_picture("predictions", build_model(tree))
    observed = np.asarray(ax.collections[-1].get_offsets())[:, 1]
    assert len(observed) == 2000
    assert np.sum(observed == 0.9) == 2415 - 645
    assert "2,000 of 2,415 pairs" in ax.get_xlabel()


@pytest.mark.first(2)
@pytest.mark.parametrize("picture", DRAWN)
def test_given_axes_are_drawn_on_and_nothing_else_is_touched(picture, celebrities):
    before = dict(matplotlib.rcParams)
    figure, given = plt.subplots()
    assert draw_picture(picture, celebrities, ax=given) is given
    assert plt.get_fignums() == [figure.number]
    assert plt.gcf() is figure
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("name", plots.__all__)
def test_wrong_input_of_a_picture_is_refused_in_one_sentence(name):
    for wrong in (th.EliminationByAspects(), pd.DataFrame({"x": [1]})):
        with pytest.raises(
            ArgumentError, match=rf"^plots\.{name} (draws the result of|requires) "
        ) as error:
            getattr(plots, name)(wrong)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", plots.__all__)
def test_docstrings_of_pictures_follow_one_template(name):
    picture = getattr(plots, name)
    written = inspect.getdoc(picture)
    first, axes, *_ = inspect.signature(picture).parameters
    assert written.startswith("Draw ") and axes == "ax"
    sections = re.findall(r"^(\w+)\n-+$", written, re.MULTILINE)
    order = ["Parameters", "Returns", "Raises", "References", "Examples"]
    assert sections[:2] == order[:2] and sections == [each for each in order if each in sections]
    assert f"\n{first} : " in written and "\nax : " in written and "Axes" in written


def test_importing_the_pictures_loads_nothing_heavy():
    modules = "thali.plots, thali._plots.model_comparison, thali._plots.feature_matrix"
    heavy = {"matplotlib", "pandas", "numba", "scipy", "xarray"}
    code = f"import sys, {modules}; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "labels",
    [
        CELEBRITIES,
        LONG,
        ["the same long beginning of a label: a", "the same long beginning of a label: b"],
        ["a, and then the same long end of a label", "b, and then the same long end of a label"],
        ["a" + "x" * 40 + "a", "a" + "x" * 20 + "y" + "x" * 19 + "a"],
        ["a  b", "a b"],
    ],
)
def test_shortened_labels_stay_distinct_and_short(labels):
    shortened = [text.get_text() for text in plots.tree(th.Tree.star(labels)).get_yticklabels()]
    assert len(set(shortened)) == len(labels)
    assert max(map(len, shortened)) <= 34
