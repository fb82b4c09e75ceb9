"""Covariates of options explain worths of rankings, sets and best-worst choices: maximum likelihood
by SciPy, slopes, options that nobody has seen, calibration."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from helpers.calibration import calibrate
from helpers.sentences import refused, warned
from scipy.optimize import minimize, root
from scipy.special import expit

import thali as th
from thali._worths.posterior_density import Spreads
from thali.errors import ArgumentError, DataError, DataWarning

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]
QUIET = {"random_seed": 1, "progressbar": False}
LABELS = list("abcdefg")
TABLE = pd.DataFrame(
    {"price": [3.0, 1.0, 2.5, 0.5, 2.0, 4.0, 1.5], "kind": list("xyzxyzx")}, index=LABELS
)
X = np.column_stack([TABLE["price"], TABLE["kind"] == "y", TABLE["kind"] == "z"]).astype(float)
NEW = pd.DataFrame({"price": [2.2], "kind": ["y"]}, index=["new"])


def draw_orders(size, n=60, seed=1):
    """Draw orders of random subsets of the options, the best first."""
    rng = np.random.default_rng(seed)
    worths = X @ [-0.5, 0.8, 0.2] + 0.3 * rng.normal(size=7)
    members = [rng.permutation(7)[:size] for _ in range(n)]
    return [m[np.argsort(-(worths[m] + rng.gumbel(size=size)))] for m in members]


def join_labels(order, marks=">>>>"):
    """Return an order as text such as "a > b = c"."""
    return "".join(x for k in range(len(order)) for x in (LABELS[order[k]], marks[k])).rstrip(">=")


TIED_MARKS = [("best", "worst"), ("best", "Tie"), ("Tie", "worst")]


def build_best_worst_table(size, marks=TIED_MARKS[:1]):
    """Build a table of best and worst from orders; answers in turn have marks that may be ties."""
    rows = []
    for k, order in enumerate(draw_orders(size)):
        answers = {"best": LABELS[order[0]], "worst": LABELS[order[-1]], "Tie": "Tie"}
        best, worst = (answers[mark] for mark in marks[k % len(marks)])
        options = {f"option{k}": LABELS[i] for k, i in enumerate(np.sort(order))}
        rows.append(options | {"best": best, "worst": worst})
    return pd.DataFrame(rows)


def build_best_worst(size):
    """Build best-worst choices from orders."""
    return th.Choices.from_best_worst(build_best_worst_table(size), labels=LABELS)


def build_sets():
    """Build choices out of sets of two, three and four."""
    rows = [
        {"choice_id": k, "alternative": LABELS[i], "chosen": int(i == order[0])}
        for k, order in enumerate([*draw_orders(2), *draw_orders(3), *draw_orders(4)])
        for i in order
    ]
    return th.Choices(pd.DataFrame(rows), labels=LABELS)


MARKS = [">=>", "=>>", ">>=", ">>>"]
TIED = [join_labels(order, MARKS[k % 4] + ">") for k, order in enumerate(draw_orders(4))]
PAIRS = [[LABELS[i] for i in order] for order in draw_orders(2)]
DATA = {
    "rankings": th.Choices.from_rankings([join_labels(o) for o in draw_orders(4)], labels=LABELS),
    "rankings with ties": th.Choices.from_rankings(TIED, labels=LABELS),
    "sets": build_sets(),
    "best and worst of three": build_best_worst(3),
    "best and worst of four": build_best_worst(4),
    "best and worst of four with ties": th.read(build_best_worst_table(4, TIED_MARKS)),
    "pairs": th.PairedComparisons.from_pairs(PAIRS, labels=LABELS),
    "choices of pairs": th.Choices.from_rankings(PAIRS, labels=LABELS),
}
RULES = {"best and worst of three": "ranking", "best and worst of four": "ranking"}


def rank_log_p(worths):
    """The log probability that options come in this order."""
    return sum(worths[k] - np.log(np.exp(worths[k:]).sum()) for k in range(len(worths) - 1))


def naive_log_likelihood(name, rule, beta):
    """The log-likelihood of the data, answer by answer, where worths are x'beta; may be complex."""
    worths = X @ beta
    if name == "sets":
        orders = [*draw_orders(2), *draw_orders(3), *draw_orders(4)]
        return sum(worths[o[0]] - np.log(np.exp(worths[o]).sum()) for o in orders)
    if name in ("pairs", "choices of pairs"):
        return sum(rank_log_p(worths[o]) for o in draw_orders(2))
    if name == "rankings":
        return sum(rank_log_p(worths[o]) for o in draw_orders(4))
    if name == "rankings with ties":
        found = 0.0
        for k, o in enumerate(draw_orders(4)):
            marks, position = MARKS[k % 4], 0
            while position < 4:
                stop = position + 1
                while stop < 4 and marks[stop - 1] == "=":
                    stop += 1
                rest = list(o[stop:])
                if rest:  # options that tie first, in any order, before the rest
                    chances = 0.0
                    for order in permutations(o[position:stop]):
                        left, chance = [*order, *rest], 1.0
                        for i in order:
                            chance = chance * np.exp(worths[i]) / np.exp(worths[left]).sum()
                            left.remove(i)
                        chances = chances + chance
                    found = found + np.log(chances)
                position = stop
        return found
    found, size = 0.0, 3 if "three" in name else 4
    for k, o in enumerate(draw_orders(size)):
        if name.endswith("ties"):  # all orders with the options that are named at the ends
            best, worst = TIED_MARKS[k % 3]
            orders = [
                order
                for order in permutations(o)
                if (best == "Tie" or order[0] == o[0]) and (worst == "Tie" or order[-1] == o[-1])
            ]
            found = found + np.log(sum(np.exp(rank_log_p(worths[[*x]])) for x in orders))
        elif rule == "ranking":
            inside = permutations(o[1:-1])
            orders = [worths[[o[0], *middle, o[-1]]] for middle in inside]
            found = found + np.log(sum(np.exp(rank_log_p(order)) for order in orders))
        else:
            differences = [worths[i] - worths[j] for i, j in permutations(o, 2)]
            found = found + worths[o[0]] - worths[o[-1]] - np.log(np.exp(differences).sum())
    return found


def maximise(log_likelihood):
    """Return the maximum of a log-likelihood and its observed information, by complex steps."""

    def gradient(beta):
        steps = 1e-30j * np.eye(len(beta))
        return np.array([log_likelihood(beta + step).imag for step in steps]) / 1e-30

    start = minimize(lambda b: -log_likelihood(b), np.zeros(3), jac=lambda b: -gradient(b)).x
    beta = root(gradient, start, tol=1e-12).x
    steps = 1e-5 * np.eye(3)
    return beta, -np.array([gradient(beta + h) - gradient(beta - h) for h in steps]) / 2e-5


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        *((name, RULES.get(name)) for name in DATA),
        ("best and worst of three", "reversed"),
        ("best and worst of four", "reversed"),
    ],
)
def test_maximum_likelihood_is_that_of_scipy(name, rule):
    data = DATA[name].with_option_covariates(TABLE)
    beta, information = maximise(lambda b: naive_log_likelihood(name, rule, b))
    model = th.BradleyTerryLuce("ML", best_worst=rule, people="independent").fit(data)
    effects = model.covariate_effects()
    assert effects.index.tolist() == ["price", "kind=y", "kind=z"]
    np.testing.assert_allclose(effects["mean"], beta, atol=1e-6)
    covariance = np.linalg.inv(information)
    np.testing.assert_allclose(effects["sd"], np.sqrt(np.diag(covariance)), rtol=1e-6)
    centred = X - X.mean(axis=0)
    worths = model.worths().loc[LABELS]
    np.testing.assert_allclose(worths["log_worth"], centred @ beta, atol=1e-6)
    errors = np.sqrt(np.einsum("ij,jk,ik->i", centred, covariance, centred))
    np.testing.assert_allclose(worths["sd"], errors, rtol=1e-6)
    n_parameters = 0.5 * model.summary().attrs["aic"] + model.summary().attrs["log_likelihood"]
    assert n_parameters == pytest.approx(3)
    new = expit(beta @ ([2.2, 1.0, 0.0] - X[0]))
    assert model.predict_proba([("new", "a")], options=NEW) == pytest.approx([new], abs=1e-6)


@pytest.mark.parametrize("name", ["rankings with ties", "best and worst of four", "sets"])
def test_slopes_and_curvature_are_those_of_the_density(name):
    data = DATA[name].with_option_covariates(TABLE)
    model = th.BradleyTerryLuce()
    density, plain = (model._build_problem(d).density for d in (data, DATA[name]))
    point = 0.4 * np.random.default_rng(2).normal(size=density.size)
    worths = point[density.worths] + X @ point[density.beta]
    value = density.log_likelihoods(point[:, None])
    np.testing.assert_allclose(value, plain.log_likelihoods(worths[:, None]), rtol=1e-12)
    spreads = [np.array(np.inf)] + [np.array(np.nan)] * 3
    slopes = density.gradients(point[:, None], Spreads(*spreads))[1][:, 0]
    slopes[density.beta] += point[density.beta]  # of the prior
    expanded = density.expand(point)
    np.testing.assert_allclose(expanded.gradient[:, 0], slopes, atol=1e-10)
    np.testing.assert_allclose(density.row_scores(point).sum(axis=0), slopes, atol=1e-10)
    steps = 1e-5 * np.eye(density.size)
    naive = [
        np.diff(density.log_likelihoods(np.column_stack([point - h, point + h]))) for h in steps
    ]
    np.testing.assert_allclose(slopes, np.ravel(naive) / 2e-5, atol=1e-6)
    bends = [density.expand(point - h).gradient - density.expand(point + h).gradient for h in steps]
    curvature = expanded.curvature.assemble_dense()
    np.testing.assert_allclose(curvature, np.hstack(bends) / 2e-5, atol=1e-6)


def test_two_unseen_options_share_the_unknown_mean_of_the_others():
    model = th.BradleyTerryLuce("ML").fit(DATA["rankings"].with_option_covariates(TABLE))
    draws = model._prediction_draws.take(np.zeros(40_000, int))
    x = np.array([[2.0, 0.0, 0.0]] * 2)
    more = draws.add_options(["p", "q"], x, np.full(40_000, 2.0))
    deviations = more.log_worths[:, -2:] - (x - X.mean(axis=0)) @ draws.beta[0]
    np.testing.assert_allclose(deviations.mean(axis=0), 0.0, atol=5.0 * 2.2 / 200.0)
    covariance = 4.0 * (np.eye(2) + 1.0 / 7.0)
    np.testing.assert_allclose(np.cov(deviations.T), covariance, atol=5.0 * 6.5 / 200.0)
    np.testing.assert_array_equal(more.log_worths[:, :7], draws.log_worths)


def test_covariates_stay_with_the_data_and_the_model(tmp_path):
    data = DATA["rankings with ties"].with_option_covariates(TABLE)
    assert "2 covariates" not in str(data) and "3 covariates" in str(data)
    assert next(iter(data.by_respondent().values())).covariates == data.covariates
    assert data.with_covariates(["price"]).covariate_names == ("price",)
    assert data.with_covariates([]) == DATA["rankings with ties"]
    with refused(DataError, "'cost'", "'price'"):
        data.with_covariates(["cost"])
    with refused(DataError, "'price'", "rename"):
        data.with_option_covariates(TABLE[["price"]])
    with refused(DataError, "afterwards"):
        data.with_more(DATA["rankings"])
    threes = DATA["best and worst of three"].with_option_covariates(TABLE)
    assert threes.as_rankings().covariates == threes.covariates
    pairs = DATA["choices of pairs"].with_option_covariates(TABLE)
    np.testing.assert_array_equal(pairs.to_comparisons().covariates.options, X)
    assert th.Choices.from_comparisons(pairs.to_comparisons()).covariates == pairs.covariates
    model = th.BradleyTerryLuce(covariates=["price"]).fit(data, draws=200, chains=2, **QUIET)
    assert model.covariate_effects().index.tolist() == ["price"]
    model.save(tmp_path / "model.nc")
    again = th.load(tmp_path / "model.nc")
    assert again._get_fit_data() == data.with_covariates(["price"])
    pd.testing.assert_frame_equal(again.covariate_effects(), model.covariate_effects())
    asked = {"options": NEW, "sets": [("a", "new")]}
    np.testing.assert_array_equal(again.predict_proba(**asked), model.predict_proba(**asked))
    assert "'price'" in again.findings()["covariates"].sentence


def test_what_does_not_go_with_covariates_of_options():
    rankings = DATA["rankings"]
    data = rankings.with_option_covariates(TABLE)
    ml = th.BradleyTerryLuce("ML")
    with refused(DataError, "'a'"):
        rankings.with_option_covariates(TABLE.drop(index="a"))
    with refused(DataError, "'price'", "every row"):
        rankings.with_option_covariates(TABLE.assign(price=1.0))
    collinear = rankings.with_option_covariates(TABLE.assign(cost=2.0 * TABLE["price"]))
    with refused(DataError, "'cost'", "collinear"):
        ml.fit(collinear)
    with warned(DataWarning, "'cost'", "collinear"):
        th.BradleyTerryLuce().fit(collinear, draws=100, chains=2, **QUIET)
    order = [join_labels(range(4)), join_labels(range(3, 7)), join_labels([0, 2, 4, 6])]
    perfect = th.Choices.from_rankings(order, labels=LABELS)
    perfect = perfect.with_option_covariates(pd.DataFrame({"x": np.arange(7.0)}, index=LABELS))
    with refused(DataError, "'x'", "no maximum"):
        ml.fit(perfect)
    for model in (
        th.EliminationByAspects(),
        th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Elimination()),
    ):
        with refused(DataError, "BradleyTerryLuce"):
            model.prepare(data)
    with refused(DataError, "BradleyTerryLuce"):
        th.leaderboard(data)
    with refused(ArgumentError, "'price'"):
        th.BradleyTerryLuce(people=th.people.Individuals()).prepare(data)
    model = ml.fit(data)
    for table, words in (
        (NEW.assign(kind="w"), ("category",)),
        (NEW.drop(columns="kind"), ("'price'", "'kind'")),
        (NEW.rename(index={"new": "a"}), ("'a'",)),
        (NEW.assign(price=np.nan), ("'price'", "new")),
    ):
        with refused((ArgumentError, DataError), *words):
            model.predict_proba([("a", "new")], options=table)
    with refused(ArgumentError, "with_option_covariates"):
        th.BradleyTerryLuce("ML").fit(rankings).predict_proba([("a", "new")], options=NEW)
    with refused(DataError, "option covariates must be unique", "'a'"):
        DATA["rankings"].with_option_covariates(pd.concat([TABLE, TABLE.head(1)]))
    with warned(DataWarning, "these options do not occur in the data", "'new'"):
        DATA["rankings"].with_option_covariates(pd.concat([TABLE, NEW]))


def test_comparisons_of_models_use_covariates_of_options():
    data = DATA["sets"].with_option_covariates(TABLE)
    models = {
        "with": th.BradleyTerryLuce("ML"),
        "price": th.BradleyTerryLuce("ML", covariates=["price"]),
    }
    found = th.compare(models, data, folds=3, **QUIET)
    plain = th.compare({"ML": th.BradleyTerryLuce("ML")}, DATA["sets"], folds=3, **QUIET)
    assert (found.loc[["with", "price"], "log_score"] > -1.2).all()
    assert found.loc["with", "log_score"] != plain.loc["ML", "log_score"]


# Calibration, and options that are held out ------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("method", ["laplace", "mcmc"])
@pytest.mark.parametrize("name", ["rankings", "sets", "best and worst of four"])
def test_effects_and_worths_are_calibrated(name, method):
    data = {
        "rankings": th.Choices.from_rankings([join_labels(o) for o in draw_orders(4, 15)]),
        "sets": build_sets(),
        "best and worst of four": build_best_worst(4),
    }[name]
    data = data.with_option_covariates(TABLE)
    run = {"draws": 200, "tune": 200, "chains": 1}
    model = th.BradleyTerryLuce(method, people="independent")
    found = calibrate(model, data, 200, random_seed=1, **run)
    print(name, method, found)
    assert {"covariate", "log_worth", "spread"} <= {
        row.partition("[")[0] for row in found.table.index
    }
    assert found.ok
