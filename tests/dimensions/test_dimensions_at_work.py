"""Files, default choice, comparison and command line of non-negative dimensions."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import warned

import thali as th
from thali._model.default_models import choose_default_model
from thali.errors import DataError, EstimateWarning

TINY = {"draws": 4, "tune": 4, "chains": 1, "random_seed": 1, "progressbar": False}
RNG = np.random.default_rng(8)
ROWS = [RNG.choice(70, 3, replace=False) + 100 for _ in range(300)]


@pytest.mark.parametrize("separator, file", [(" ", "t.txt"), (",", "t.csv"), ("\t", "t.tsv")])
def test_three_object_numbers_per_line_are_triplets(tmp_path, separator, file):
    text = "\n".join(separator.join(map(str, row)) for row in ROWS)
    (tmp_path / file).write_text(text + "\n")
    with pytest.raises(DataError, match="triplets"):  # which one is odd?
        th.read(tmp_path / file)
    data = th.read(tmp_path / file, kind="triplets")
    expected = th.Triplets(np.array(ROWS).astype(str), labels=data.labels)
    assert data == expected
    assert data.labels == tuple(sorted(data.labels, key=int))
    assert "no column names" in data.read_as


def test_two_objects_and_the_odd_one_are_triplets(tmp_path):
    frame = pd.DataFrame(ROWS, columns=["image1", "image2", "odd_one_out"])
    data = th.read(frame)
    assert data == th.Triplets(np.array(ROWS).astype(str), labels=data.labels)


@pytest.mark.parametrize(
    "lines",
    [
        ["1 2 3", "4 5 7", "7 8 9"],  # options called 1, 2 and 3
        ["5 9 7", "8 5 5", "9 7 5"],  # the same object twice
        ["5 9 7", "8 5", "9 7 5"],
    ],
)
def test_other_tables_of_numbers_are_read_as_before(tmp_path, lines):
    (tmp_path / "t.txt").write_text("\n".join(lines))
    with pytest.raises(th.errors.DataError):
        th.read(tmp_path / "t.txt", kind="triplets")


def test_many_objects_have_dimensions_by_default():
    few = th.Triplets([(k, k + 1, k + 2) for k in range(58)] * 21)
    many = th.Triplets([(k, k + 1, k + 2) for k in range(59)] * 21)
    assert (few.n_options, many.n_options) == (60, 61)
    chosen = choose_default_model(few)
    assert (chosen.offer.name, chosen.others) == ("additive-clustering", ["nonnegative-dimensions"])
    chosen = choose_default_model(many)
    assert (chosen.offer.name, chosen.others) == ("nonnegative-dimensions", ["additive-clustering"])
    assert choose_default_model(many, {"people": "adjusted"}).offer.name == "additive-clustering"
    rarely_judged = th.Triplets([(k, k + 1, k + 2) for k in range(59)] * 20)
    assert choose_default_model(rarely_judged).offer.name == "additive-clustering"
    similarities = th.Similarities(np.ones((61, 61)))
    assert choose_default_model(similarities).offer.name == "additive-clustering"


@pytest.mark.fit
def test_few_answers_about_an_object_are_warned_of():
    few = th.Triplets([("a", "b", "c"), ("a", "b", "d")])
    with warned(EstimateWarning, "2 answers about 4 objects", "20 answers per object"):
        th.NonnegativeDimensions(1).fit(few, **TINY)


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_dimensions_are_compared_with_features():
    triplets = [("a", "b", "c"), ("a", "b", "d"), ("c", "d", "a"), ("c", "d", "b")] * 5
    models = {"features": th.AdditiveClustering(), "dimensions": th.NonnegativeDimensions(2)}
    run = {"draws": 20, "tune": 20, "chains": 2, "random_seed": 1, "progressbar": False}
    table = th.compare(models, th.Triplets(triplets), folds=2, cores=1, **run)
    assert {"features", "dimensions"} <= set(table.index)
    assert np.isfinite(table["log_score"]).all()
    matrix = RNG.random((6, 6))
    similarities = th.Similarities((matrix + matrix.T) / 2)
    models["features"] = th.AdditiveClustering(sigma=0.2)
    table = th.compare(models, similarities, folds=2, cores=1, **run)
    assert np.isfinite(table.loc["dimensions", "log_score"])
