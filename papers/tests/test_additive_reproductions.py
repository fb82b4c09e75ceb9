"""The reproductions of Navarro & Griffiths (2007) in miniature, from words on the command line to
files."""

import json
import math
import os
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.naive.latent_features import additive_log_likelihood
from helpers.real_data import needs_data, real_data
from helpers.stopped_jobs import keep_parts
from scipy import stats

import thali as th
from papers import Settings
from papers import additive_2007 as paper
from papers import additive_2007_simulation as section_5
from papers import additive_2007_tables as tables
from papers.additive_2007_tables import COUNTRIES, LETTERS, NUMBERS
from thali._aspects.models.additive_clustering import AdditiveClustering
from thali._comparison.pair_holdouts import compute_mcse
from thali._data import kinds
from thali._inference.resumable_tasks import read_parts
from thali._reading.layout_recognition import read_data

pytestmark = pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Each test has a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def as_printed(design) -> pd.DataFrame:
    """Similarities that the printed features and weights give, with a little noise."""
    rng = np.random.default_rng(1)
    labels = design.labels
    matrix = np.full((len(labels), len(labels)), design.constant) + 0.02 * rng.standard_normal(
        (len(labels),) * 2
    )
    for members, printed in design.features.items():
        owners = np.isin(labels, members)
        matrix += printed.probability * printed.weight * np.outer(owners, owners)
    return pd.DataFrame((matrix + matrix.T) / 2, index=labels, columns=labels)


def cells(text: str, first: str) -> list[str]:
    """The cells of the first line that begins with these words."""
    line = next(line for line in text.splitlines() if line.startswith(first + " "))
    return line[len(first) :].split()


# what the paper prints ----------------------------------------------------------------------------


@pytest.mark.parametrize(("design", "n"), [(NUMBERS, 10), (COUNTRIES, 16), (LETTERS, 26)])
def test_printed_features_are_of_the_objects(design, n):
    assert len(design.labels) == n and all(
        len(set(members)) == len(members) >= 2 for members in design.features
    )
    assert {label for members in design.features for label in members} <= set(design.labels)
    printed = [feature.probability for feature in design.features.values()]
    assert printed == sorted(printed, reverse=True)


@needs_data
@pytest.mark.parametrize(("constant", "explained"), [(0.003, 59), (0.03, 68)])
def test_the_constant_of_table_3_is_a_misprint(constant, explained):
    file = real_data("letters/similarity.csv")
    data, _ = paper.read(file, LETTERS)
    assert round(tables.explained_by_print(LETTERS, data, constant)) == explained


# files of data ------------------------------------------------------------------------------------


def test_objects_are_known_in_any_order_and_case(folder):
    square = as_printed(COUNTRIES)
    order = np.random.default_rng(2).permutation(16)
    shuffled = square.iloc[order, order].rename(index=str.lower, columns=str.lower)
    shuffled.to_csv(folder / "countries.csv")
    data, messages = paper.read(folder / "countries.csv", COUNTRIES)
    assert messages.startswith("16 objects, 120 similarities")
    assert data.labels == tuple(COUNTRIES.labels[k] for k in order)
    frame = data.to_frame().loc[COUNTRIES.labels, COUNTRIES.labels].to_numpy()
    np.testing.assert_allclose(
        frame[~np.eye(16, dtype=bool)], square.to_numpy()[~np.eye(16, dtype=bool)]
    )


@pytest.mark.parametrize(
    ("words", "messages"),
    [
        (
            ["additive-letters"],
            "additive-letters needs a table of the similarities of the letters A to Z",
        ),
        (["additive-letters"], "with `--data PATH`"),
        (
            ["paris-rome", "--data", "given.csv"],
            "paris-rome takes no data of the user's; leave out `--data`",
        ),
        (["additive-numbers", "--data", "given.csv"], "leave out `--data`"),
        (["additive-letters", "--data", "absent.csv"], "There is no file 'absent.csv'"),
    ],
)
def test_data_where_there_should_be_none_or_none_where_there_should_be(
    run, folder, words, messages
):
    result = run(*words, "--small", "--out", "results")
    assert (
        result.code == 2
        and messages in result.err
        and result.out == ""
        and os.listdir(folder) == []
    )


def test_the_list_says_which_need_data(run):
    listed = run().out
    assert "    needs --data: a table of the similarities of the 16 countries" in listed
    assert listed.count("needs --data") == 2 + 5


# tables of features -------------------------------------------------------------------------------


@pytest.mark.long
def test_numbers_from_words_to_files(run, folder, monkeypatch):
    monkeypatch.setattr(paper, "NUMBERS", NUMBERS._replace(draws=(60, 0, 0)))
    result = run("additive-numbers", "--small", "--out", "results")
    assert (
        result.code == 0 and (folder / "results" / "additive-numbers.txt").read_text() == result.out
    )
    pictures = [
        f"additive-numbers-{name}.png"
        for name in ("figure-4", "features", "overlap", "similarities")
    ]
    written = [f"additive-numbers-{number}.csv" for number in range(1, 7)] + [
        "additive-numbers.txt",
        *pictures,
    ]
    assert sorted(os.listdir(folder / "results")) == sorted(written)

    constant = pd.read_csv("results/additive-numbers-1.csv").iloc[-1]
    assert abs(constant["weight"] - 0.0808) < 4.5 * np.hypot(constant["error of weight"], 0.0002)
    quantities = pd.read_csv("results/additive-numbers-2.csv").set_index("quantity")
    for name, value in {
        "mean number of features of two objects or more": 10.347,
        "variance that the expectation accounts for, %": 97.17,
    }.items():
        row = quantities.loc[name]
        assert abs(row["here"] - value) < 4.5 * row["error"] + 0.05
    assert cells(result.out, "probability of 9 to 13 features")[0] == "0.926"
    assert cells(result.out, "2 3 4 5 6")[0] == "0.590" and cells(result.out, "5 6 7")[0] == "-"
    number = pd.read_csv("results/additive-numbers-3.csv")
    np.testing.assert_allclose(number[["all", "of two objects or more"]].sum(), 1.0, atol=0.01)
    repeats: Any = pd.read_csv("results/additive-numbers-6.csv")
    assert (repeats["lowest repeat"] <= repeats["highest repeat"]).all()
    assert (
        "The paper's sampler, run 2 times: 10 chains, burn-in 100, 100 draws, lag 10" in result.out
    )


@pytest.mark.long
def test_countries_from_a_file(run, folder, monkeypatch):
    """Data that the paper's features made: they are found, whatever the order and spelling of the
    labels."""
    monkeypatch.setattr(paper, "COUNTRIES", COUNTRIES._replace(draws=(40, 0, 0)))
    square = as_printed(COUNTRIES).rename(index=str.upper, columns=str.upper)
    square.iloc[::-1, ::-1].to_csv(folder / "given.csv")
    result = run("additive-countries", "--small", "--data", "given.csv")
    assert result.code == 0
    for members in list(COUNTRIES.features)[:3]:
        paper_probability, probability = cells(result.out, " ".join(members))[:2]
        assert (
            float(paper_probability) == COUNTRIES.features[members].probability
            and float(probability) > 0.9
        )
    assert "The data were read from given.csv: 16 objects, 120 similarities" in " ".join(
        result.out.split()
    )


@pytest.fixture(scope="module")
def fitted():
    model = AdditiveClustering(sigma=0.05, alpha=0.5)
    return model.fit(
        th.datasets.numbers(), 120, tune=60, chains=2, random_seed=1, progressbar=False
    )


def test_features_beside_those_of_the_model(fitted):
    table: Any = tables.feature_table(NUMBERS, fitted).set_index("members")
    found = fitted.features(0.0).set_index("members")
    for members, row in table.iloc[:-1].iterrows():
        if members in found.index:
            expected = found.loc[[members]].iloc[0]
            assert row["prob."] == pytest.approx(expected["probability"])
            assert row["weight"] == pytest.approx(expected["weight"])
        else:
            assert row["prob."] == 0.0 and np.isnan(row["weight"])
    assert list(table.index[:10]) == list(NUMBERS.features)
    further: Any = table.iloc[10:-1]
    assert (further["prob."] >= NUMBERS.above).all() and further["prob., paper"].isna().all()
    assert len(table) == 11 + (found["probability"] >= NUMBERS.above).sum() - sum(
        found["probability"].get(members, 0.0) >= NUMBERS.above for members in NUMBERS.features
    )


def test_numbers_of_features_are_those_drawn(fitted):
    """The drawn singletons have the distribution that is put in their place."""
    posterior = fitted.posterior_["posterior"]
    of_number = tables.probabilities_of_numbers(posterior["n_shared_features"].values)
    np.testing.assert_allclose(of_number.sum(axis=-1), 1.0, atol=1e-6)
    drawn = posterior["n_features"].values.ravel()
    mean = (of_number * np.arange(of_number.shape[-1])).sum(axis=-1)
    assert abs((drawn - mean.ravel()).mean()) < 4.5 * math.sqrt(0.5 / drawn.size)


@pytest.mark.long
def test_error_of_the_variance_explained(fitted):
    """It is the error of the mean of what each draw would add, here by a small step towards each
    draw."""
    explained, error = tables.variance_explained(fitted)
    estimate = fitted.estimate()
    draws = fitted.posterior_["posterior"]["similarity"].values
    observed = estimate.observed[np.triu_indices(10, 1)]

    def of(fit):
        return 100 * (1 - np.sum((observed - fit) ** 2) / np.sum((observed - observed.mean()) ** 2))

    mean, step = draws.mean(axis=(0, 1)), 1e-5
    towards = [
        [
            (of(mean + step * (draw - mean)) - of(mean - step * (draw - mean))) / (2 * step)
            for draw in chain
        ]
        for chain in draws
    ]
    assert (
        explained
        == pytest.approx(of(mean))
        == pytest.approx(100 * estimate.variance_accounted_for())
    )
    assert error == pytest.approx(compute_mcse(np.array(towards)), rel=1e-4)


# simulated similarities ---------------------------------------------------------------------------

TINY = section_5.Size(
    {8: 2},
    {"draws": 30, "tune": 20, "thin": 20, "chains": 2},
    {"draws": 60, "tune": 10, "thin": 5, "chains": 3},
    (section_5.RATE, section_5.BROAD),
)


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(section_5.SIZES, "small", TINY)


def settings(folder=None):
    return Settings("small", progressbar=False, folder=folder)


@pytest.mark.long
def test_simulation_from_words_to_files_and_on_from_them(run, folder, tiny, monkeypatch):
    first = run("additive-simulation", "--small", "--out", "results")
    assert (
        first.code == 0
        and (folder / "results" / "additive-simulation.txt").read_text() == first.out
    )
    pictures = [
        f"additive-simulation-{name}.png"
        for name in ("figure-2", "figure-3a", "figure-3b", "reconstructed")
    ]
    assert set(pictures) <= set(os.listdir("results"))
    explained = pd.read_csv("results/additive-simulation-2.csv")
    assert explained["estimator"].tolist() == [
        *section_5.ESTIMATORS.values(),
        "expectation, Gamma(1, 0.1)",
    ]

    job = folder / "results" / "additive-simulation-small-jobs" / "data-sets"
    assert len(read_parts(job).records) == 4
    keep_parts(job, 2)
    made, fits = section_5._record, []
    monkeypatch.setattr(section_5, "_record", lambda *cell: fits.append(cell) or made(*cell))
    again = run("additive-simulation", "--small", "--out", "results")
    assert again.out == first.out and len(fits) == 2


def test_tables_rest_on_the_estimates(tiny):
    records, interrupted = section_5._all_records(settings(), TINY)
    assert len(records) == 4 and not interrupted
    assert json.loads(json.dumps(records)) == records
    of_numbers, explained, differences, chains = section_5._tables(records).values()
    seeds = np.random.SeedSequence(1, spawn_key=(8, 1)).spawn(3)
    made = th.datasets.additive(8, seeds[0])
    model = AdditiveClustering(sigma=0.3, alpha=2.0, weight_prior=(1.0, 1.0))
    model.fit(made.data, **TINY.tempered, random_seed=seeds[1], progressbar=False)
    share = model.estimate().variance_accounted_for(made.true)
    assert records[1]["explained"]["expectation"]["true"] == pytest.approx(100 * share, rel=1e-9)
    both = [record["explained"] for record in records[:2]]
    rows = explained.set_index("estimator")
    means = {kind: np.mean([each[kind]["again"] for each in both]) for kind in section_5.ESTIMATORS}
    for kind, name in section_5.ESTIMATORS.items():
        assert rows.loc[name, "S_n"] == pytest.approx(means[kind])
    row = differences.set_index("expectation minus").loc["joint MAP"]
    apart = np.array([each["expectation"]["again"] - each["joint-map"]["again"] for each in both])
    assert row["S_n"] == pytest.approx(means["expectation"] - means["joint-map"])
    assert row["error of S_n"] == pytest.approx(abs(apart[0] - apart[1]) / 2)
    below = np.array([record["below"] for record in records[:2]])
    assert (below >= 0).all() and chains["chains"].tolist() == [6]
    assert chains["> 5 nats below"].iloc[0] == pytest.approx((below > 5).mean())
    assert of_numbers["rate of weights"].tolist() == [1.0, 0.1]


def test_shares_of_chains_far_below_the_best():
    row = section_5._chain_row(32, [{"below": [0.0, 6.0, 20.0]}, {"below": [1.0, 2.0, 3.0]}])
    assert row["chains"] == 6 and row["failed, paper"] == 0.5
    assert row["> 5 nats below"] == pytest.approx(1 / 3) and row["error of > 5"] == pytest.approx(
        1 / 3
    )
    assert row["> 15 nats below"] == pytest.approx(1 / 6) and row["error of > 15"] == pytest.approx(
        1 / 6
    )


def test_log_posterior_is_that_of_the_specification():
    made = th.datasets.additive(8, random_seed=2)
    model = AdditiveClustering(alpha=2.0, weight_prior=(1.0, 0.5))
    model.fit(made.data, 12, tune=5, chains=2, thin=5, random_seed=1, progressbar=False)
    posterior, latent = (
        model.posterior_["posterior"].dataset,
        model.posterior_["latent_features"].dataset,
    )
    found = section_5.log_posterior(model, 0.5)
    for chain in range(2):
        for draw in range(12):
            owners, weights = (latent[name].values[chain, draw] for name in ("features", "weights"))
            shared = owners.sum(axis=1) >= 2
            owners, weights = owners[shared], weights[shared]
            constant = float(posterior["constant"].values[chain, draw])
            log_prior = len(owners) * math.log(2.0) - 2.0 * sum(1 / m for m in range(2, 9))
            for m in owners.sum(axis=1):
                log_prior += math.log(
                    math.factorial(8 - m) * math.factorial(m - 1) / math.factorial(8)
                )
            _, copies = np.unique(owners, axis=0, return_counts=True)
            log_prior -= sum(math.log(math.factorial(c)) for c in copies)
            log_prior += stats.gamma.logpdf([*weights, constant], 1.0, scale=2.0).sum()
            likelihood = additive_log_likelihood(made.data, owners.T, weights, constant, 0.3)
            assert found[chain, draw] == pytest.approx(log_prior + likelihood, abs=1e-8)


@needs_data
def test_shared_files_are_what_the_paper_used():
    for design, n in ((COUNTRIES, 16), (LETTERS, 26)):
        file = real_data(f"{design.name.removeprefix('additive-')}/similarity.csv")
        data, messages = paper.read(file, design)
        original, _ = read_data(file, kinds.SIMILARITIES)
        assert data.labels == original.labels and np.array_equal(data.values, original.values)
        assert messages.startswith(f"{n} objects")
