"""The reproductions of Archambeau & Caron (2012) in miniature, on generated data, from words to
files."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.plackett_luce_data import problem
from helpers.real_data import needs_data, real_data
from helpers.stopped_jobs import keep_parts

import papers
from papers import Settings
from papers import plackett_luce_2012 as paper
from papers import plackett_luce_2012_data as data_files
from papers import plackett_luce_2012_data as rates
from papers import plackett_luce_2012_iris as iris
from papers import plackett_luce_2012_mixing as mixing
from papers.plackett_luce_2012_data import COLON, GIBBS, IRIS, LOGIT, STUDIES, SUSHI, VARIATIONAL
from papers.plackett_luce_2012_mixing import plackett_luce_chain
from thali._classify.plackett_luce.chain_state import LOG_MASS
from thali._classify.plackett_luce.model import PlackettLuceRegression
from thali._classify.sparse_logit.model import SparseMultinomialLogit
from thali._inference.resumable_tasks import read_parts
from thali.errors import ArgumentError, DataError

TINY = rates.Budget(2, 4, 4, 1)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Each test has a folder of its own, and short runs."""
    monkeypatch.chdir(tmp_path)
    for module in (paper, iris):
        monkeypatch.setitem(module.BUDGETS, "small", TINY)
    monkeypatch.setitem(mixing.SIZES, "small", mixing.Size(1, 2, 30))
    monkeypatch.setattr(iris, "_draws", lambda settings: 4)
    return tmp_path


def table(n: int, names, classes, seed=1) -> pd.DataFrame:
    """Covariates, and classes that they tell apart with some errors."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, len(names))), 2)
    scores = 2.0 * X[:, :1] * np.linspace(-1, 1, len(classes)) + rng.gumbel(size=(n, len(classes)))
    return pd.DataFrame(X, columns=list(names)).assign(
        kind=np.array(classes)[scores.argmax(axis=1)]
    )


def irises(n=40) -> pd.DataFrame:
    return table(n, ["sepal_length", "sepal_width", "petal_length", "petal_width"], ["a", "b", "c"])


def lenses() -> pd.DataFrame:
    """All 24 combinations, the class as the one that UCI holds would be: by astigmatism and
    tears."""
    cells = np.array(
        [(age, a, b, c) for age in (1, 2, 3) for a in (1, 2) for b in (1, 2) for c in (1, 2)]
    )
    classes = np.where(cells[:, 3] == 1, 3, cells[:, 2])
    return pd.DataFrame(cells, columns=["age", "prescription", "astigmatic", "tear_rate"]).assign(
        kind=classes
    )


def genes() -> pd.DataFrame:
    levels: Any = np.exp(table(24, [f"g{j}" for j in range(30)], [0, 1]).drop(columns="kind"))
    tumour = np.arange(24) % 3 > 0
    return levels.mul(1.0 + tumour, axis=0).assign(
        tissue=np.where(tumour, "tumour", "normal"), y=tumour.astype(int)
    )


def settings(folder=None, **other) -> Settings:
    return Settings("small", progressbar=False, folder=folder, cores=1, **other)


# what the paper prints ----------------------------------------------------------------------------


def test_figures_agree_with_the_relative_speeds_of_table_3():
    """To whole numbers, of effective sizes that are themselves rounded."""
    speed = {"Lenses": 29, "Wine": 35, "Iris": 24, "Heart": 1 / 2, "German": 1 / 3, "Pima": 1 / 2}
    for design in STUDIES:
        (slow, few), (fast, many) = design.yields[LOGIT], design.yields[GIBBS]
        ends = [(slow / (few + h)) / (fast / (many - h)) for h in (0.5, -0.5)]
        if speed[design.name] < 1:
            ends = [1 / end for end in ends[::-1]]
        printed = max(speed[design.name], 1 / speed[design.name])
        assert ends[0] - 0.5 <= printed <= ends[1] + 0.5
        assert set(design.rates) == {LOGIT, GIBBS, VARIATIONAL}


@needs_data
def test_shared_files_have_the_sizes_of_table_1():
    found = data_files.read(real_data("uci"), STUDIES)
    assert [data.task for data in found] == [design.name for design in STUDIES]
    assert not any("other than" in data.sentence for data in found)
    of_age = data_files.ages(found[4])
    assert of_age is not None and np.unique(of_age.labels, return_counts=True)[1].tolist() == [
        8,
        8,
        8,
    ]
    colon = data_files.read(real_data("colon/colon.csv"), (COLON,))[0]
    assert "other than" not in colon.sentence and np.bincount(
        colon.labels.astype(int)
    ).tolist() == [22, 40]


# files of data ------------------------------------------------------------------------------------


def test_a_folder_is_read_by_names(folder):
    irises().to_csv(folder / "Iris-2.csv", index=False)
    first = irises(30).rename(columns={"kind": "class"})
    first[["class", *first.columns[:4]]].to_csv(folder / "heart.tsv", sep="\t", index=False)
    irises().to_csv(folder / "other.csv", index=False)
    (folder / "pima.md").write_text("not a table")
    found = data_files.read(folder, STUDIES)
    assert [data.task for data in found] == ["Iris", "Heart"]
    assert found[1].labels.tolist() == first["class"].tolist()
    np.testing.assert_array_equal(found[1].covariates, first.drop(columns="class"))
    assert found[0].sentence.startswith(
        "Iris-2.csv: 40 rows, 4 covariates, 3 classes, other than the paper's (150, 4, 3)"
    )
    assert data_files.read(folder / "Iris-2.csv", STUDIES)[0].task == "Iris"
    assert data_files.read(folder / "other.csv", (IRIS,))[0].task == "Iris"


def test_levels_of_genes_become_logarithms(folder):
    genes().to_csv(folder / "levels.csv", index=False)
    data = data_files.read(folder / "levels.csv", (COLON,))[0]
    assert data.covariates.columns.tolist() == [f"g{j}" for j in range(30)]
    np.testing.assert_allclose(data.covariates, np.log(genes()[data.covariates.columns]))
    assert data.labels.tolist() == genes()["y"].tolist()


def test_data_are_asked_for(run):
    result = run("plackett-luce-table3", "--small")
    assert result.code == 2 and "plackett-luce-table3 needs a folder" in result.err
    with pytest.raises(ArgumentError, match="table of the irises"):
        papers.find("plackett-luce-fig2").run(Settings("small"))
    assert run().out.count("needs --data") == 2 + 5


# splits and scores --------------------------------------------------------------------------------


def data_set(frame: pd.DataFrame, design=IRIS) -> data_files.DataSet:
    return data_files.DataSet(
        design, design.name, "made.csv", frame.iloc[:, :-1].astype(float), frame["kind"].to_numpy()
    )


def test_every_class_and_no_constant_is_in_the_part_that_trains():
    data = data_set(lenses())
    for seed in range(40):
        train, test = data_files.split(data, np.random.default_rng(seed))
        assert len(train) == len(test) == 12 and sorted([*train, *test]) == list(range(24))
        assert (
            set(data.labels[train]) == {1, 2, 3}
            and np.ptp(data.covariates.to_numpy()[train], axis=0).all()
        )
    rare = lenses().assign(prescription=[1] * 23 + [2])
    halves = [
        data_files.split(data_set(rare), np.random.default_rng(seed))[0] for seed in range(20)
    ]
    assert all(23 in half for half in halves)
    with pytest.raises(DataError, match="lacks a class or has a constant covariate"):
        data_files.split(data_set(lenses().assign(kind=range(24))), np.random.default_rng(0))


def test_splits_of_colon_and_sushi_have_the_papers_sizes():
    for design, train in ((COLON, 50), (SUSHI, 4000)):
        data = data_set(table(design.size[0], ["x"], [0, 1]), design)
        assert len(data_files.split(data, np.random.default_rng(0))[0]) == train


def test_lenses_by_age_have_the_class_as_a_covariate():
    of_age = data_files.ages(data_set(lenses(), STUDIES[4]))
    assert (
        of_age is not None
        and of_age.task == "Lenses, age"
        and of_age.labels.tolist() == [1] * 8 + [2] * 8 + [3] * 8
    )
    assert of_age.covariates.columns.tolist() == [
        "prescription",
        "astigmatic",
        "tear_rate",
        "class",
    ]
    assert of_age.covariates["class"].tolist() == (lenses()["kind"] - 1).tolist()
    assert data_files.ages(data_set(irises())) is None


class Fixed:
    """A classifier whose probabilities are given."""

    def __init__(self, classes, probabilities):
        self.classes_, self.probabilities = np.array(classes), np.array(probabilities)

    def predict_proba(self, X):
        return self.probabilities


def test_scores_are_those_of_their_definitions():
    labels = np.array(["b", "a", "b", "a", "b"])
    of_b = np.array([0.9, 0.4, 0.4, 0.6, 0.7])
    found = rates.scores(Fixed(["a", "b"], np.column_stack([1 - of_b, of_b])), None, labels)
    pairs = [(x > y) + (x == y) / 2 for x in of_b[labels == "b"] for y in of_b[labels == "a"]]
    assert found["error"] == 2 / 5 and found["auc"] == pytest.approx(np.mean(pairs))
    assert found["loss"] == pytest.approx(-np.log([0.9, 0.6, 0.4, 0.4, 0.7]).mean())
    three = rates.scores(
        Fixed([1, 2, 3], [[0.5, 0.3, 0.2], [0.0, 0.0, 1.0]]), None, np.array([2, 3])
    )
    assert three == {"error": 0.5, "loss": pytest.approx(-np.log(0.3) / 2)}
    assert rates.majority_error(np.array([1, 1, 2]), np.array([2, 2, 1, 3])) == 0.75


# Table 2 and colon --------------------------------------------------------------------------------


def test_table_2_from_words_to_files_and_on_from_them(run, folder, monkeypatch):
    irises().to_csv(folder / "iris.csv", index=False)
    table(40, ["x", "y", "z"], [1, 2]).to_csv(folder / "german.csv", index=False)
    lenses().to_csv(folder / "lenses.csv", index=False)
    first = run("plackett-luce-table2", "--small", "--data", ".", "--out", "results")
    assert first.code == 0, first.err
    found: Any = pd.read_csv("results/plackett-luce-table2-1.csv").set_index(["data", "method"])
    assert (
        len(found) == 4 + 5 + 4 + 4
        and (found["here"] <= 1).all()
        and np.isfinite(found["log loss"]).all()
    )
    assert found.loc[("Iris", LOGIT), "paper"] == found.loc[("Iris", LOGIT), "sd, paper"] == 0.086
    assert (
        found.loc[("German", paper.FIXED), "a"] == 0.3
        or found.loc[("German", paper.FIXED), "a"] == "0.3"
    )
    assert found["AUC"].notna().sum() == 5  # German alone has two classes
    for words in (
        "majority does",
        "PL Gibbs",
        "sushi.csv into the folder",
        "saying the age",
        "iris.csv: 40 rows",
    ):
        assert words in " ".join(first.out.split())

    job = folder / "results" / "plackett-luce-table2-small-jobs" / "plackett-luce-table2"
    assert len(read_parts(job).records) == 2 * 4
    keep_parts(job, 5)
    made, fits = rates._record, []
    monkeypatch.setattr(rates, "_record", lambda *cell: fits.append(cell) or made(*cell))
    again = run("plackett-luce-table2", "--small", "--data", ".", "--out", "results")
    assert again.out == first.out and len(fits) == 3


def test_the_table_rests_on_the_fits():
    data = data_set(irises())
    methods = (paper.METHODS[0], paper.METHODS[3])
    records, interrupted = rates.rates_of(
        settings(), "any", [rates.Task(data, methods)], TINY._replace(splits=3)
    )
    assert not interrupted and [record["split"] for record in records] == [0, 1, 2]
    of_data = int(rates.digest(data)[:8], 16)
    errors = {method.name: [] for method in methods}
    for number in range(3):
        seeds = np.random.SeedSequence(1, spawn_key=(of_data, number)).spawn(3)
        train, test = data_files.split(data, np.random.default_rng(seeds[0]))
        X, y = data.covariates.to_numpy(), data.labels
        logit = SparseMultinomialLogit(
            reference="c", draws=4, tune=4, chains=1, random_state=seeds[1]
        )
        with pytest.warns(UserWarning):
            logit.fit(X[train], y[train], thin=10)
        bound = PlackettLuceRegression("variational").fit(X[train], y[train])
        for model, method in zip((logit, bound), methods, strict=True):
            errors[method.name].append(np.mean(model.predict(X[test]) != y[test]))
        assert records[number]["methods"][VARIATIONAL]["bound"] == pytest.approx(bound.lower_bound_)
        assert records[number]["majority"] == rates.majority_error(y[train], y[test])
    shown = rates.rate_table(records, [rates.Task(data, methods)]).set_index("method")
    for name, found in errors.items():
        assert shown.loc[name, "here"] == pytest.approx(np.mean(found))
        assert shown.loc[name, "sd"] == pytest.approx(np.std(found, ddof=1))
        assert shown.loc[name, "error"] == pytest.approx(np.std(found, ddof=1) / np.sqrt(3))


def test_ctrl_c_keeps_finished_splits(folder, monkeypatch):
    data = data_set(irises())
    tasks = [rates.Task(data, paper.METHODS[3:])]
    made, fits = rates._record, []

    def stopped(*cell):
        fits.append(cell)
        if len(fits) == 2:
            raise KeyboardInterrupt
        return made(*cell)

    monkeypatch.setattr(rates, "_record", stopped)
    records, interrupted = rates.rates_of(settings(folder), "any", tasks, TINY)
    assert interrupted and len(records) == 1
    assert len(read_parts(folder / "any").records) == 1
    irises().to_csv(folder / "iris.csv", index=False)
    # while sampling the first of another run
    monkeypatch.setattr(rates, "_record", lambda *cell: None)
    with pytest.raises(KeyboardInterrupt):
        paper.table_2(settings(data=folder))


def test_colon(run, folder):
    genes().to_csv(folder / "colon.csv", index=False)
    result = run("plackett-luce-colon", "--small", "--data", "colon.csv", "--out", "results")
    assert result.code == 0, result.err
    shown: Any = pd.read_csv("results/plackett-luce-colon-1.csv").set_index("method")
    assert (
        shown.loc[LOGIT, "paper"] == 0.33 and shown.loc[GIBBS, "paper"] == 0.36 and len(shown) == 5
    )
    assert (shown["majority"] == shown["majority"].iloc[0]).all() and "splits 19/5" in " ".join(
        result.out.split()
    )
    times: Any = pd.read_csv("results/plackett-luce-colon-2.csv").set_index("sampler")
    assert (times["sweep, ms"] > 0).all() and times.loc[paper.PUBLISHED, "ratio to PL"] == 1


# Table 3 ------------------------------------------------------------------------------------------


def slow_ess(x) -> float:
    x = x - x.mean()
    rho = [np.dot(x[: len(x) - lag], x[lag:]) / np.dot(x, x) for lag in range(min(len(x), 200))]
    total, least = 0.0, np.inf
    for lag in range(0, len(rho) - 1, 2):
        pair = rho[lag] + rho[lag + 1]
        if pair <= 0:
            break
        least = min(least, pair)
        total += least
    return len(x) / (2 * total - 1)


def test_effective_size_of_a_single_chain():
    """A slow evaluation agrees, and an autoregression has N (1 − r) / (1 + r)."""
    rng = np.random.default_rng(1)
    noise, r = rng.standard_normal((4000, 60)), 0.8
    chains = np.empty_like(noise)
    chains[0] = noise[0]
    for t in range(1, len(noise)):
        chains[t] = r * chains[t - 1] + np.sqrt(1 - r * r) * noise[t]
    found = mixing.single_chain_ess(chains)
    for length in (4000, 50):  # of the short one the pairs rise again before they are negative
        effective = mixing.single_chain_ess(chains[:length])
        for column in range(0, 60, 6):
            assert effective[column] == pytest.approx(slow_ess(chains[:length, column]), rel=1e-6)
    # the estimates' own mean and error, and a bias of the truncation that is at most a tenth for
    # chains as long
    exact = 4000 * (1 - r) / (1 + r)
    assert abs(found.mean() / exact - 1) < 0.1 + 4 * found.std() / np.sqrt(60) / exact
    assert np.isnan(mixing.single_chain_ess(np.ones((50, 1)))[0])


@pytest.mark.parametrize(
    "name", [mixing.PUBLISHED, mixing.RECOMMENDED, mixing.HOLMES_HELD, mixing.POLYA_GAMMA]
)
def test_followed_odds_give_the_log_likelihood(name):
    """Of the training rows themselves; weights bear their sum, which falls out."""
    data = data_set(irises())
    X, codes = data.covariates.to_numpy(), np.unique(data.labels, return_inverse=True)[1]
    chain = mixing.samplers_of(data)[name](X, data.labels, draws=6, tune=6, seed=3)
    chain.run_until(6)
    draws, odds, likelihoods = mixing._drawn(chain, X, X, name)
    assert draws.shape == (6, 27 if name.startswith("PL") else 8)
    if name.startswith("PL"):
        sums = draws.sum(axis=1)
        np.testing.assert_allclose(
            draws / sums[:, None], chain.record.weights.reshape(6, -1), rtol=1e-12
        )
        assert sums[-1] == pytest.approx(np.exp(chain.state.real[LOG_MASS])) and sums[
            -1
        ] != pytest.approx(1)
    logs = np.concatenate([odds.reshape(6, 2, len(X)), np.zeros((6, 1, len(X)))], axis=1)
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(
        logs[:, codes, np.arange(len(X))].sum(axis=1), likelihoods, rtol=1e-9
    )


def test_chains_are_those_of_the_classifiers():
    data = data_set(irises())
    X, y = data.covariates.to_numpy(), data.labels
    seed = np.random.SeedSequence(5)
    with pytest.warns(UserWarning):
        fitted = PlackettLuceRegression(draws=5, tune=5, chains=1, random_state=5).fit(X, y, thin=1)
    likelihoods = fitted.posterior_["posterior"].dataset["log_likelihood"].values[0]
    chain = plackett_luce_chain(X, y, is_published=False, draws=5, tune=5, seed=seed.spawn(1)[0])
    chain.run_until(10)
    np.testing.assert_allclose(chain.record.log_likelihood, likelihoods, rtol=1e-12)


def test_ratios_of_table_3():
    seen = {
        mixing.PUBLISHED: [mixing.Yield(1.0, 10.0, 4.0, 1.5), mixing.Yield(3.0, 30.0, 4.0, 1.3)],
        mixing.RECOMMENDED: [mixing.Yield(4.0, 80.0, 80.0, 1.0)],
        mixing.HOLMES_HELD: [mixing.Yield(8.0, 5.0, 16.0, 1.1)],
    }
    single = mixing._table({"Wine": seen}, mixing._as_paper).set_index("sampler")
    assert single.loc[mixing.PUBLISHED, "effective draw"] == pytest.approx((2 / 20) / (8 / 5))
    assert single.loc[mixing.PUBLISHED, "effective draw, paper"] == pytest.approx(
        (15.1 / 23) / (184.9 / 8)
    )
    assert (
        single.loc[mixing.HOLMES_HELD, "sweep"]
        == single.loc[mixing.HOLMES_HELD, "effective draw, paper"]
        == 1
    )
    assert (
        np.isnan(single.loc[mixing.RECOMMENDED, "ESS, paper"])
        and single.loc[mixing.PUBLISHED, "ESS, paper"] == 23
    )
    together = mixing._table({"Wine": seen}, mixing._over_chains).set_index("sampler")
    assert together.loc[mixing.RECOMMENDED, "effective draw"] == pytest.approx((4 / 80) / (8 / 16))
    assert together.loc[mixing.PUBLISHED, "largest R-hat"] == pytest.approx(1.4)
    assert "Wine 10." in mixing._on_speed({"Wine": seen})[0]  # 2/4 against 4/80


@pytest.mark.long
def test_table_3_from_files(run, folder):
    irises().to_csv(folder / "iris.csv", index=False)
    lenses().to_csv(folder / "lenses.csv", index=False)
    words = ["plackett-luce-table3", "--small", "--data", ".", "--out", "results"]
    first = run(*words)
    assert first.code == 0, first.err
    shown: Any = pd.read_csv("results/plackett-luce-table3-1.csv").set_index(["data", "sampler"])
    assert len(shown) == 4 + 5 and (shown["ESS"] > 0).all() and (shown["sweep"] > 0).all()
    assert shown.loc[("Lenses, age", mixing.PUBLISHED), "ESS, paper"] == 2916
    assert run(*words).out == first.out  # times and all, from the job


# Figs. 2 and 4 ------------------------------------------------------------------------------------


@pytest.mark.long
def test_figure_2(run, folder):
    irises(60).to_csv(folder / "iris.csv", index=False)
    result = run("plackett-luce-fig2", "--small", "--data", "iris.csv", "--out", "results")
    assert result.code == 0, result.err
    path: Any = pd.read_csv("results/plackett-luce-fig2-1.csv").set_index("a")
    assert (path["above zero"][path.index > 1] == 27).all() and path["above zero"][1.0] < 27
    X, y = irises(60).iloc[:, :-1], irises(60)["kind"]
    fitted = PlackettLuceRegression("map", a=1.0).fit(X, y)
    assert path["log-likelihood"][1.0] == pytest.approx(fitted.log_likelihood_, rel=1e-8)
    support = pd.read_csv("results/plackett-luce-fig2-2.csv")
    np.testing.assert_allclose(support["weight"], fitted.support_["weight"], rtol=1e-4)
    assert support["column of W"].tolist() == fitted.support_["column"].tolist()
    counts = pd.read_csv("results/plackett-luce-fig2-3.csv").set_index("a")
    for a in (1.0, 0.1):
        bound = np.asarray(PlackettLuceRegression("variational", a=a).fit(X, y).weights_)
        assert counts["variational mean"][a] == (bound > 0.01).sum()
    assert (folder / "results" / "plackett-luce-fig2-figure-2.png").exists()


@pytest.mark.long
@pytest.mark.rendered
def test_figure_4(run, folder):
    irises().to_csv(folder / "iris.csv", index=False)
    result = run("plackett-luce-fig4", "--small", "--data", "iris.csv", "--out", "results")
    assert result.code == 0, result.err
    said = " ".join(result.out.split())
    assert "Of petal_length and petal_width alone" in said and "40 rows, 4 covariates" in said
    shown = pd.read_csv("results/plackett-luce-fig4-1.csv").set_index("method")
    assert shown.index.tolist() == [method.name for method in iris.METHODS]
    assert shown["another program"].tolist() == [0.044, 0.193, 0.063, 0.101, 0.044]
    assert (folder / "results" / "plackett-luce-fig4-figure-4.png").exists()


def test_path_of_iris_is_a_single_jump():
    """Figure 2: all 27 weights above a = 1, three and the same three from there on."""
    W, codes, n_classes = problem("iris")
    grid = [0.01, 0.5, 0.95, 1.0, 1.1, 2.0]
    fits = iris.map_path(W, codes, n_classes, grid)
    assert [int(fit.support.sum()) for fit in fits] == [3, 3, 3, 3, 27, 27]
    for fit in fits[:3]:
        np.testing.assert_allclose(fit.weights, fits[3].weights, atol=1e-6)
    assert abs(fits[4].objective - -92.0748376646) < 1e-6
