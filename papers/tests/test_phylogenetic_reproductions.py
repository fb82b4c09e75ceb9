"""The reproduction of Miller, Griffiths & Jordan (2008) in miniature."""

import numpy as np
import pandas as pd
import pytest
from helpers import watched_runs
from helpers.stopped_jobs import keep_parts

from papers import Settings
from papers import phylogenetic_2008 as paper
from papers.plots.truth_and_estimate import choice_matrix, weighted_features
from thali import datasets
from thali._inference.resumable_tasks import read_parts


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(paper.SIZES, "small", paper.Size(1, (10,), draws=10, tune=10, chains=2))


def settings(folder=None):
    return Settings("small", random_seed=1, cores=1, progressbar=False, folder=folder)


@pytest.mark.long
def test_the_entry_in_miniature_goes_on_from_its_folder(tiny, tmp_path, monkeypatch):
    watched_runs.write_often(monkeypatch)
    first = paper.blocks(settings(tmp_path))
    assert len(read_parts(tmp_path / "0-10").records) == 3 * 36
    keep_parts(tmp_path / "0-10", 59)

    fits = count_fits(monkeypatch)
    again = paper.blocks(settings(tmp_path))
    assert len(fits) == 3 * 36 - 59
    for title, table in first.tables.items():
        pd.testing.assert_frame_equal(table, again.tables[title], check_exact=False, rtol=1e-12)
    assert first.remarks == again.remarks and not again.interrupted
    check_tables(first)
    check_pictures(first)


def count_fits(monkeypatch):
    fits = []
    watched_runs.run_fits_by(monkeypatch, lambda run, task: fits.append(task) or run(task))
    return fits


def check_tables(found):
    score, gain, log_mean, squares = found.tables.values()
    assert score["comparisons a pair"].tolist() == [10] and score["data sets"].tolist() == [1]
    assert (score[["pIBP .1", "pIBP .5", "IBP"]] < score["truth"].iloc[0]).all(axis=None), (
        "the truth scores best"
    )
    of_tree = 1000 * (score["pIBP .1"] - score["IBP"])
    np.testing.assert_allclose(gain["pIBP .1 - IBP"], of_tree, rtol=0, atol=1e-10)
    assert log_mean.notna()["pIBP .5 - IBP"].all() and (squares[["pIBP .1", "IBP"]] > 0).all(
        axis=None
    )
    assert squares["largest R-hat"].iloc[0] > 0


def check_pictures(found):
    from matplotlib import pyplot

    assert list(found.pictures) == [
        "figure-4",
        "figure-4-differences",
        "figure-3",
        "figure-5a",
        "figure-5b",
    ]
    for draw in found.pictures.values():
        figure = np.ravel(draw())[0].figure
        figure.draw_without_rendering()
        pyplot.close(figure)


@pytest.mark.long
def test_scores_rest_on_the_true_probabilities(tiny, tmp_path):
    scores, interrupted = paper._all_scores(settings(tmp_path), paper.SIZES["small"])
    assert scores is not None and not interrupted
    made = paper.made(settings(), 0, 10)
    kept = read_parts(tmp_path / "0-10").records.values()
    for name in paper.MODELS:
        predicted = {
            record["pair"]: np.squeeze(record["predicted"])
            for record in kept
            if record["model"] == name
        }
        p = [
            made.probabilities[i, j] for i, j in zip(made.data.first, made.data.second, strict=True)
        ]
        score = np.mean(
            [x * np.log(predicted[k]) + (1 - x) * np.log(1 - predicted[k]) for k, x in enumerate(p)]
        )
        row = scores[scores["model"] == name].iloc[0]
        assert row["score"] == pytest.approx(score, rel=1e-12)
        error = np.mean([(predicted[k] - x) ** 2 for k, x in enumerate(p)])
        assert row["squared error"] == pytest.approx(error, rel=1e-12)


def test_ctrl_c_before_anything_is_finished(tiny, monkeypatch):
    from thali._comparison import held_out_fits

    def stopped(task):
        raise KeyboardInterrupt

    monkeypatch.setattr(held_out_fits, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        paper.blocks(settings())


def test_levels_share_their_features_and_sizes_their_data():
    one, other = paper.made(settings(), 2, 1), paper.made(settings(), 2, 1000)
    assert np.array_equal(one.probabilities, other.probabilities)
    assert not np.array_equal(one.probabilities, paper.made(settings(), 1, 1).probabilities)
    for small, large in (("small", "standard"), ("standard", "full")):
        assert set(paper.SIZES[small].levels) <= set(paper.SIZES[large].levels)


def test_what_the_data_sets_establish():
    # differences .1 +- .01 and .1 +- .1 over three data sets: ten standard errors and one; the 95 %
    # interval has 4.3
    rows = []
    for level, spread in ((10, 0.01), (100, 0.1)):
        for number, step in enumerate((-1, 0, 1)):
            cell = {"comparisons": level, "data set": number}
            rows.append(cell | {"model": "IBP", "score": -0.5 + number})
            rows.append(
                cell | {"model": "pIBP .1", "score": -0.4 + number + spread * 3**0.5 * step}
            )
            rows.append(
                cell | {"model": "pIBP .5", "score": -0.6 + number + spread * 3**0.5 * step}
            )
    tree, loose = paper._established(pd.DataFrame(rows), "score", "score")
    assert "at 10 of 10, 100 comparisons a pair;" in tree and "(0.1000 nats, error 0.0100)" in tree
    assert "at none of 10, 100 comparisons a pair, worse at 10;" in loose


def test_merged_columns():
    features = np.array(
        [[1, 1, 1, 0, 1, 1], [1, 0, 1, 0, 1, 1], [0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 0]], bool
    )
    weights = np.array([0.3, 0.5, 0.4, 0.05, 3.0, 0.1])
    columns, total, alone = paper._merged(features, weights, np.array([1.0, 2.0, 3.0, 4.0]))
    assert columns.T.tolist() == [[True, True, False, False]]
    np.testing.assert_allclose(total, [0.8], rtol=1e-14)
    np.testing.assert_allclose(alone, [1.5, 2.0, 3.0, 4.0], rtol=1e-14)


@pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")
def test_mean_matrices_of_a_known_model():
    import thali as th

    data = datasets.paris_rome(expected=True)
    model = th.EliminationByAspects([[1, 0], [1, 0], [0, 1], [0, 1]])
    model.fit(data, 50, 50, chains=2, cores=1, random_seed=1, progressbar=False)
    columns, weights, alone = paper.mean_features(model, data.labels)
    posterior = model.posterior_["posterior"]
    owners = {tuple(column) for column in columns.T.tolist()}
    assert owners == {(True, True, False, False), (False, False, True, True)}
    drawn = model.posterior_["latent_features"]["weights"].values.reshape(100, -1).mean(axis=0)
    np.testing.assert_allclose(sorted(weights), sorted(drawn), rtol=1e-12)
    np.testing.assert_allclose(
        alone, posterior["unique_weights"].values.reshape(100, 4).mean(axis=0), rtol=1e-12
    )
    matrix = paper.mean_choices(model)
    np.testing.assert_allclose(matrix + matrix.T, 1.0, rtol=0, atol=1e-15)
    asked = model.predict_proba([("P+", "R"), ("R+", "P")])
    np.testing.assert_allclose([matrix[0, 2], matrix[3, 1]], asked, rtol=1e-12)


@pytest.mark.usefixtures("pictures")
def test_matrices_are_drawn_with_their_labels():
    ax = weighted_features(
        np.array([[1], [1], [0]], bool), np.array([2.0]), np.ones(3), ["a1", "a2", "b1"]
    )
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["own", "2.0"]
    ax = choice_matrix(np.array([[0.5, 0.9], [0.1, 0.5]]), ["tea", "milk"])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["tea", "milk"]
