"""Choices in blocks: the generator against its formulas, and the reproduction of Miller et al. (2008) in miniature."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import digamma
from stopped_jobs import keep_parts

from thali import datasets
from thali.errors import ArgumentError, DataError
from thali.inference import jobs
from thali.inference.parts import read_parts
from thali.reproduce import Settings
from thali.reproduce import phylogenetic_2008 as paper

FIVE = 5.0  # standard errors


# the generator --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many():
    return [datasets.block_choices(comparisons=20, random_seed=seed) for seed in range(600)]


def test_features_are_as_many_as_the_prior_says(many):
    alpha, total = 2.0, 3 * 0.9 + 9 * 0.1
    number = np.array([made.features.shape[1] for made in many])
    expected = alpha * (digamma(1 + total) - digamma(1))  # and Poisson: the variance is the same
    assert abs(number.mean() - expected) < FIVE * np.sqrt(expected / len(many))
    assert all(made.features.any(axis=0).all() for made in many), "every feature has an owner"


def test_relatives_share_features(many):
    # columns of one option are Poisson(alpha); those of two options together Poisson(alpha (psi(1 + T) - psi(1))), T
    # the length of their part of the tree; hence what they share by inclusion and exclusion
    options = np.array([made.features.sum(axis=1) for made in many])
    assert np.abs(options.mean(axis=0) - 2.0).max() < FIVE * np.sqrt(2.0 / len(many))
    for other, length in ((1, 0.9 + 2 * 0.1), (3, 2.0)):
        shared = np.array([(made.features[0] & made.features[other]).sum() for made in many])
        expected = 2.0 * (2.0 - (digamma(1 + length) - digamma(1)))
        assert abs(shared.mean() - expected) < FIVE * np.sqrt(expected / len(many)), f"options 0 and {other}"


def test_weights_are_exponential(many):
    for weights in (np.concatenate([m.weights for m in many]), np.concatenate([m.unique_weights for m in many])):
        assert abs(weights.mean() - 1.0) < FIVE / np.sqrt(len(weights))
        # the variance of (w - 1)^2 is the fourth central moment 9 less 1
        assert abs(np.mean((weights - 1.0) ** 2) - 1.0) < FIVE * np.sqrt(8.0 / len(weights))


def test_probabilities_are_those_of_the_model(many):
    for made in many[:20]:
        p = naive_probabilities(made, 0.01)
        np.testing.assert_allclose(made.probabilities, p, rtol=0, atol=1e-14)
    exact = datasets.block_choices(random_seed=3, lapse=0.0)
    np.testing.assert_allclose(exact.probabilities, naive_probabilities(exact, 0.0), rtol=0, atol=1e-14)


def naive_probabilities(made, lapse):
    n = len(made.unique_weights)
    p = np.full((n, n), 0.5)
    for i in range(n):
        for j in set(range(n)) - {i}:
            ij, ji = made.unique_weights[i], made.unique_weights[j]
            for column, weight in zip(made.features.T, made.weights, strict=True):
                ij += weight * (column[i] and not column[j])
                ji += weight * (column[j] and not column[i])
            p[i, j] = (1 - lapse) * ij / (ij + ji) + lapse / 2
    return p


def test_choices_follow_the_probabilities(many):
    for first, second in ((0, 1), (0, 8), (4, 5)):
        gaps = np.array([made.data.counts[first, second] - 20 * made.probabilities[first, second] for made in many])
        variance = np.array([20 * p * (1 - p) for p in (made.probabilities[first, second] for made in many)])
        assert abs(gaps.sum()) < FIVE * np.sqrt(variance.sum())
        # standardised squares have mean 1 and variance 2 + (1 - 6 p (1 - p)) / (20 p (1 - p)); p >= .005
        excess = 2 + (1 - 6 * variance / 20) / variance
        assert abs((gaps**2 / variance).sum() - len(many)) < FIVE * np.sqrt(excess.sum())
    assert all((made.data.wins + made.data.losses == 20).all() and made.data.n_pairs == 36 for made in many)


def test_a_seed_is_a_truth_whatever_the_number_of_comparisons():
    few, again, lots = (datasets.block_choices(comparisons=n, random_seed=7) for n in (5, 5, 1000))
    assert few.data == again.data and few.tree == again.tree
    for field in ("features", "weights", "unique_weights", "probabilities"):
        assert np.array_equal(getattr(few, field), getattr(again, field))
        assert np.array_equal(getattr(few, field), getattr(lots, field))
    assert few.data != datasets.block_choices(comparisons=5, random_seed=8).data
    from_sequence = [datasets.block_choices(random_seed=np.random.SeedSequence(7)).data for _ in range(2)]
    assert from_sequence[0] == from_sequence[1]


def test_groups_and_labels():
    made = datasets.block_choices(groups=2, per_group=2, leaf_length=0.25, random_seed=1)
    assert made.data.labels == made.tree.labels == ("a1", "a2", "b1", "b2")
    assert made.tree.to_newick() == "((a1:0.25,a2:0.25)a:0.75,(b1:0.25,b2:0.25)b:0.75);"
    many = datasets.block_choices(groups=30, per_group=1, comparisons=1, random_seed=1).data.labels
    assert len(set(many)) == 30 and many[25:28] == ("z1", "aa1", "ab1")


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        ({"groups": 0}, "groups must be a whole number of 1 or more; got 0"),
        ({"per_group": 2.5}, "per_group must be a whole number of 1 or more; got 2.5"),
        ({"comparisons": True}, "comparisons must be a whole number of 1 or more; got True"),
        ({"alpha": 0}, "alpha is the expected number of features of each option and must be a finite number above 0"),
        ({"alpha": float("inf")}, "alpha is the expected number"),
        ({"leaf_length": 0}, "leaf_length"),
        ({"leaf_length": 1.5}, "leaf_length"),
        ({"lapse": 1.0}, "lapse is the probability of choosing at random"),
        ({"random_seed": -1}, "random_seed must be a whole number of 0 or more"),
    ],
)
def test_bad_arguments(arguments, messages):
    with pytest.raises(ArgumentError, match=messages):
        datasets.block_choices(**arguments)


def test_one_option_is_none():
    with pytest.raises(DataError):
        datasets.block_choices(groups=1, per_group=1)


# the reproduction -----------------------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(paper.SIZES, "small", paper.Size(1, (10,), draws=10, tune=10, chains=2))


def settings(folder=None):
    return Settings("small", random_seed=1, cores=1, progressbar=False, folder=folder)


@pytest.mark.long
def test_the_entry_in_miniature_goes_on_from_its_folder(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "MIN_SECONDS", 0.0)
    monkeypatch.setattr(jobs, "SHARE", 1e9)
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
    from thali.comparison import engine

    fits, run = [], engine.run
    monkeypatch.setattr(engine, "run", lambda task: fits.append(task) or run(task))
    return fits


def check_tables(found):
    score, gain, log_mean, squares = found.tables.values()
    assert score["comparisons a pair"].tolist() == [10] and score["data sets"].tolist() == [1]
    assert (score[["pIBP .1", "pIBP .5", "IBP"]] < score["truth"].iloc[0]).all(axis=None), "the truth scores best"
    of_tree = 1000 * (score["pIBP .1"] - score["IBP"])
    np.testing.assert_allclose(gain["pIBP .1 - IBP"], of_tree, rtol=0, atol=1e-10)
    assert log_mean.notna()["pIBP .5 - IBP"].all() and (squares[["pIBP .1", "IBP"]] > 0).all(axis=None)
    assert squares["largest R-hat"].iloc[0] > 0


def check_pictures(found):
    from matplotlib import pyplot

    assert list(found.pictures) == ["figure-4", "figure-4-differences", "figure-3", "figure-5a", "figure-5b"]
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
        predicted = {record["pair"]: record["predicted"] for record in kept if record["model"] == name}
        p = [made.probabilities[i, j] for i, j in zip(made.data.first, made.data.second, strict=True)]
        score = np.mean([x * np.log(predicted[k]) + (1 - x) * np.log(1 - predicted[k]) for k, x in enumerate(p)])
        row = scores[scores["model"] == name].iloc[0]
        assert row["score"] == pytest.approx(score, rel=1e-12)
        error = np.mean([(predicted[k] - x) ** 2 for k, x in enumerate(p)])
        assert row["squared error"] == pytest.approx(error, rel=1e-12)


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("finished", [3 * 36, 3 * 36 + 12], ids=["between levels", "inside a level"])
def test_ctrl_c_keeps_what_is_finished(tmp_path, monkeypatch, finished):
    from thali.comparison import engine

    fits, run = [], engine.run

    def stopped(task):
        if len(fits) == finished:
            raise KeyboardInterrupt
        fits.append(task)
        return run(task)

    monkeypatch.setitem(paper.SIZES, "small", paper.Size(1, (1, 10), draws=4, tune=1, chains=1))
    monkeypatch.setattr(engine, "run", stopped)
    found = paper.blocks(settings(tmp_path))
    assert found.interrupted
    assert next(iter(found.tables.values()))["comparisons a pair"].tolist() == [1]
    assert list(found.pictures) == ["figure-4", "figure-4-differences"]
    assert sum(len(read_parts(job).records) for job in tmp_path.iterdir()) == finished


@pytest.mark.long
def test_ctrl_c_while_the_pictures_are_fitted(tiny, monkeypatch):
    fits, fit = [], paper.EliminationByAspects.fit

    def stopped(model, *data, **rest):
        fits.append(model)
        if len(fits) > 3 * 36 + 1:
            raise KeyboardInterrupt
        return fit(model, *data, **rest)

    monkeypatch.setattr(paper.EliminationByAspects, "fit", stopped)
    found = paper.blocks(settings())
    assert found.interrupted and list(found.pictures) == ["figure-4", "figure-4-differences"]
    assert len(found.tables) == 4


def test_ctrl_c_before_anything_is_finished(tiny, monkeypatch):
    from thali.comparison import engine

    def stopped(task):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        paper.blocks(settings())


def test_levels_share_their_features_and_sizes_their_data():
    one, other = paper.made(settings(), 2, 1), paper.made(settings(), 2, 1000)
    assert np.array_equal(one.probabilities, other.probabilities)
    assert not np.array_equal(one.probabilities, paper.made(settings(), 1, 1).probabilities)
    for small, large in (("small", "standard"), ("standard", "full")):
        assert set(paper.SIZES[small].levels) <= set(paper.SIZES[large].levels)


def test_what_the_data_sets_establish():
    # differences .1 +- .01 and .1 +- .1 over three data sets: ten standard errors and one; the 95 % interval has 4.3
    rows = []
    for level, spread in ((10, 0.01), (100, 0.1)):
        for number, step in enumerate((-1, 0, 1)):
            cell = {"comparisons": level, "data set": number}
            rows.append(cell | {"model": "IBP", "score": -0.5 + number})
            rows.append(cell | {"model": "pIBP .1", "score": -0.4 + number + spread * 3**0.5 * step})
            rows.append(cell | {"model": "pIBP .5", "score": -0.6 + number + spread * 3**0.5 * step})
    tree, loose = paper._established(pd.DataFrame(rows), "score", "score")
    assert "at 10 of 10, 100 comparisons a pair;" in tree and "(0.1000 nats, error 0.0100)" in tree
    assert "at none of 10, 100 comparisons a pair, worse at 10;" in loose


def test_merged_columns():
    features = np.array([[1, 1, 1, 0, 1, 1], [1, 0, 1, 0, 1, 1], [0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 0]], bool)
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
    drawn = posterior["weights"].values.reshape(100, -1).mean(axis=0)
    np.testing.assert_allclose(sorted(weights), sorted(drawn), rtol=1e-12)
    np.testing.assert_allclose(alone, posterior["unique_weights"].values.reshape(100, 4).mean(axis=0), rtol=1e-12)
    matrix = paper.mean_choices(model)
    np.testing.assert_allclose(matrix + matrix.T, 1.0, rtol=0, atol=1e-15)
    asked = model.predict_proba([("P+", "R"), ("R+", "P")])
    np.testing.assert_allclose([matrix[0, 2], matrix[3, 1]], asked, rtol=1e-12)
