"""People who answer more than once: scores and design effect by loops over people, and what draws
make of them."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers.dependence_attributes import dependence_of
from helpers.log_evidences import log_evidence
from helpers.naive import latent_features as naive
from helpers.naive import respondent_scores as naive_scores
from helpers.plain_python import run_as_python
from helpers.sentences import refused, said
from scipy import stats
from scipy.optimize import minimize
from scipy.special import logsumexp

import thali as th
from thali._model.cluster_robust_variance import (
    ScoreVariance,
    raise_improbable_variance,
)
from thali.errors import ArgumentError, DataError

pytestmark = pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
ADJUSTED, INDEPENDENT = "adjusted", "independent"
SCORES, POWER = "scores", "power"  # what adjusts
OPTIONS = list("abcd")
QUIET = {"random_seed": 1, "progressbar": False}
QUICK = {"draws": 40, "tune": 0, "chains": 2, "random_seed": 1, "progressbar": False}


def answers(people=20, spread=0.8, seed=0, times=2, ties=False, options=4, numbers=False):
    """A row an answer: the log worths of every person vary about common ones."""
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(options, 1)
    worth = np.linspace(-0.6, 0.6, options) + spread * rng.normal(size=(people, options))
    p = 1.0 / (1.0 + np.exp(worth[:, second] - worth[:, first]))
    won = np.where(rng.random((times, *p.shape)) < p, "first", "second")
    if ties:
        won[rng.random(won.shape) < 0.2] = "tie"
    _, who, pair = (part.ravel() for part in np.indices(won.shape))
    names = np.array([chr(97 + k) for k in range(options)])
    who = 7 * who + 3 if numbers else np.char.add("p", who.astype(str))
    rows = dict(
        respondent=who, first=names[first][pair], second=names[second][pair], chosen=won.ravel()
    )
    return pd.DataFrame(rows)


def comparisons(**settings):
    return th.PairedComparisons.from_trials(answers(**settings), respondent="respondent")


def sets():
    rng, rows = np.random.default_rng(1), []
    for person in range(9):
        lean = rng.normal(size=4)
        for number in range(3):
            order = [OPTIONS[k] for k in np.argsort(lean + rng.gumbel(size=4))]
            named = {f"item{k + 1}": option for k, option in enumerate(OPTIONS)}
            rows.append(named | {"best": order[0], "respondent": f"p{person}", "task": number})
    frame = pd.DataFrame(rows)
    long = frame.melt(
        ["best", "respondent", "task"],
        ["item1", "item2", "item3", "item4"],
        value_name="alternative",
    )
    long["chosen"] = long["best"] == long["alternative"]
    long["choice_id"] = long["respondent"] + "-" + long["task"].astype(str)
    return th.Choices(long, "choice_id", "alternative", "chosen", respondent="respondent")


# scores, mode and design effect -------------------------------------------------------------------


SHARED = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
CASES = {  # data, shared aspects, settings of the model
    "pairs": (comparisons, None, {"lapse": 0.0}),
    "lapse": (comparisons, None, {"lapse": 0.05}),
    "ties": (lambda: comparisons(ties=True), None, {"lapse": 0.02}),
    "known aspects": (comparisons, SHARED, {"lapse": 0.02}),
    "sets": (sets, None, {"lapse": 0.03}),
}


def by_hand(data, shared, settings):
    """The log-likelihood of some data at a point: log unique weights, log shared ones, log nu."""
    matrix = np.zeros((4, 0)) if shared is None else shared

    def value(point):
        weights = np.exp(point[: 4 + matrix.shape[1]])
        tie = np.exp(point[-1]) if len(point) > len(weights) else None
        return naive.log_likelihood(data, matrix, weights[4:], weights[:4], tie=tie, **settings)

    return value


def gradient(of, point, step=1e-4):
    steps = step * np.eye(len(point))
    return np.array([(of(point + each) - of(point - each)) / (2 * step) for each in steps])


def hessian(of, point):
    return np.array([gradient(lambda z, k=k: gradient(of, z)[k], point) for k in range(len(point))])


def answers_by_respondent(data, aspects="unique", **settings):
    """The tally of answers by respondent, and functions of a point (logs of weights, of nu): log p,
    the likelihood."""
    found = (
        th.EliminationByAspects(aspects, method="maximum-likelihood", **settings)
        .fit(data)
        ._estimates_
    )
    tally, weights = found.clusters.tally.toarray(), len(found.weights)

    def logs(point):
        return np.log(found.problem.probabilities(np.exp(point[:weights]), point[weights:]))

    return found, tally, logs, lambda point: tally.sum(axis=0) @ logs(point)


def choices_by_respondent(data, lapse):
    """The tally of choices by respondent, and functions of a point, by Luce's rule."""
    sizes, tally = np.diff(data.start), np.zeros((len(data.respondents), len(data.members)))
    np.add.at(tally, (data.respondent, data.choice), data.times)

    def logs(point):
        weights = np.exp(point)[data.members]
        total = np.repeat(np.add.reduceat(weights, data.start[:-1]), sizes)
        return np.log((1.0 - lapse) * weights / total + lapse / np.repeat(sizes, sizes))

    return sizes, tally, logs, lambda point: tally.sum(axis=0) @ logs(point)


def highest(log_density, size):
    """Where a smooth density is highest."""
    return minimize(
        lambda z: -log_density(z), np.zeros(size), method="BFGS", options={"gtol": 1e-6}
    ).x


@pytest.mark.fit  # for its time
@pytest.mark.parametrize("name", CASES)
def test_the_design_effect_is_that_of_a_loop_over_people(name):
    make, shared, settings = CASES[name]
    data, aspects = make(), "unique" if shared is None else shared
    ties = name == "ties"
    if name == "sets":  # whose effect is that of worths
        aspects = "ibp"
        sizes, tally, logs, likelihood = choices_by_respondent(data, **settings)
    else:
        found, tally, logs, likelihood = answers_by_respondent(data, aspects, **settings)
        sizes = found.problem.sizes
    weights = 4 + (0 if shared is None else shared.shape[1])
    size = weights + ties

    def log_posterior(point):  # flat shares of all weights, Gamma(1, 1) nu
        own = point[:weights]
        tie = point[-1] - np.exp(point[-1]) if ties else 0.0
        return likelihood(point) + own.sum() - weights * logsumexp(own) + tie

    point = highest(log_posterior, size)
    whole = by_hand(data, shared, settings)
    assert np.ptp([whole(z) - likelihood(z) for z in (point, point + 0.1 * np.arange(size))]) < 1e-9
    gradients = naive_scores.outcome_gradients(logs, point)
    each = np.array(
        [gradient(by_hand(part, shared, settings), point) for part in data.by_respondent().values()]
    )
    np.testing.assert_allclose(tally @ gradients, each, atol=1e-5)
    parts = naive_scores.informations(tally, sizes, np.exp(logs(point)), gradients)
    z = naive_scores.adjusted_scores(-hessian(likelihood, point), parts, each)
    with run_as_python():
        model = th.EliminationByAspects(aspects, people="independent", **settings)
        model.fit(data, draws=1, tune=0, chains=1, thin=1, random_seed=1, progressbar=False)
    assert dependence_of(model).effect == pytest.approx((z**2).sum() / (size - 1), rel=1e-4)


# draws that are spread ----------------------------------------------------------------------------


@pytest.mark.fit
@pytest.mark.parametrize("ties", [False, True])
def test_draws_have_the_covariance_of_the_sandwich(ties):
    """Of respondents who answered unequally often, against a loop over them: intervals are those of
    Student's t."""
    frame = answers(people=14, times=4, ties=ties)
    frame = frame.groupby("respondent").head(24).groupby("respondent", sort=False)
    frame = pd.concat([part.head(24 if k < 4 else 9) for k, (_, part) in enumerate(frame)])
    data = th.PairedComparisons.from_trials(frame, respondent="respondent")
    model = th.BradleyTerryLuce(spread=1.3, lapse=0.01).fit(
        data, draws=5_000, random_seed=1, progressbar=False
    )
    made = dependence_of(model)
    assert (made.model, made.by) == (ADJUSTED, SCORES)
    found, tally, logs, likelihood = answers_by_respondent(data, lapse=0.01)

    def log_posterior(point):
        return (
            likelihood(point)
            - 0.5 * (point[:4] @ point[:4]) / 1.3**2
            - 0.125 * (point[4:] @ point[4:])
        )

    mode = highest(log_posterior, 4 + ties)
    curvature = -hessian(log_posterior, mode)
    gradients = naive_scores.outcome_gradients(logs, mode)
    parts = naive_scores.informations(tally, found.problem.sizes, np.exp(logs(mode)), gradients)
    covariance = naive_scores.sandwich(curvature, parts, tally @ gradients)
    centre = np.eye(len(mode))
    centre[:4, :4] -= 0.25
    degrees = naive_scores.degrees_of_freedom(curvature, parts, tally @ gradients, centre[:4])
    # with lapse the information that is expected is not that of the Hessian
    assert made.df == pytest.approx(np.median(degrees), rel=2e-2) and 4.0 < made.df < 11.0
    shares = [np.trace(np.linalg.pinv(curvature, hermitian=True) @ part) for part in parts]
    assert made.share == pytest.approx(max(shares) / sum(shares), rel=0.02)
    worths = model.posterior_["posterior"]["log_worth"].values.reshape(-1, 4)
    for i, j in combinations(range(4), 2):
        contrast = np.eye(len(mode))[i] - np.eye(len(mode))[j]
        ends = np.quantile(worths[:, i] - worths[:, j], [0.055, 0.25, 0.75, 0.945])
        widths = np.array([ends[3] - ends[0], ends[2] - ends[1]]) / np.sqrt(
            contrast @ covariance @ contrast
        )
        np.testing.assert_allclose(widths, -2 * stats.t(made.df).ppf([0.055, 0.25]), rtol=0.05)


UNEQUAL = {  # answers of each respondent: degrees of freedom of two options, leverages n_s / n
    "equal": (np.full(12, 20), 11.0),
    "one of 78 %": (np.append(400, np.full(14, 8)), None),
    "two": (np.array([30, 30]), 1.0),
}


@pytest.mark.parametrize("name", UNEQUAL)
def test_degrees_of_freedom_of_one_contrast_by_hand(name):
    """Of two options the leverages are shares h of the answers: sum over s, t of their products
    without 1 - h."""
    counts, usual = UNEQUAL[name]
    rows = [
        (f"p{s}", "a", "b", "a" if k % 2 else "b") for s, n in enumerate(counts) for k in range(n)
    ]
    data = th.PairedComparisons.from_trials(
        pd.DataFrame(rows, columns=["respondent", "first", "second", "chosen"])
    )
    found = dependence_of(
        th.BradleyTerryLuce(spread=1e3, people="adjusted").fit(data, draws=4, **QUIET)
    )
    h = counts / counts.sum()
    pull = h / np.sqrt(1 - h)
    both = np.outer(pull, pull) ** 2
    expected = 1.0 / (np.sum(h**2) + both.sum() - np.trace(both))
    assert found.df == pytest.approx(expected, rel=1e-4) and found.share == pytest.approx(h.max())
    assert usual is None or expected == pytest.approx(usual, rel=1e-4)


@pytest.mark.long
@pytest.mark.fit
def test_heavy_tails_of_few_respondents_touch_neither_ratings_nor_forecasts():
    """Means of draws by Student's t with 1.5 degrees of freedom would be as good as random."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(9), [220, *[8] * 8])
    won = rng.random(len(who)) < 0.6
    rows = dict(respondent=who, first="tea", second="rye", chosen=np.where(won, "tea", "rye"))
    data = th.PairedComparisons.from_trials(pd.DataFrame(rows), respondent="respondent")
    boards = [
        th.leaderboard(data, people=ADJUSTED, progressbar=False, random_seed=seed)
        for seed in range(12)
    ]
    ratings = np.array([board.table.loc["tea", "rating"] for board in boards])
    errors = np.array(
        [
            board.table.loc["tea", "rating_high"] - board.table.loc["tea", "rating_low"]
            for board in boards
        ]
    )
    assert boards[0].people.df < 2.0 and np.ptp(ratings) < 0.03 * errors.mean()
    assert boards[0].groups == (("tea", "rye"),)
    votes = np.array([board.more_votes().index[-1] for board in boards])
    assert 0 < votes.min() and votes.max() < 3 * votes.min()


def unanimous(people=14, times=1, options=3):
    pairs = [("tea", "milk", "tea"), ("tea", "rye", "tea"), ("milk", "rye", "milk")][
        : 3 if options == 3 else 1
    ]
    rows = [(f"p{s}", *pair) for s in range(people) for pair in pairs for _ in range(times)]
    return th.PairedComparisons.from_trials(
        pd.DataFrame(rows, columns=["respondent", "first", "second", "chosen"])
    )


@pytest.mark.long
@pytest.mark.fit
@pytest.mark.parametrize("people", [2, 14])
def test_unanimous_respondents_have_intervals_of_independent_answers(people):
    data = unanimous(people)
    adjusted, independent = (
        th.leaderboard(data, people=each, progressbar=False, random_seed=1).table
        for each in ("adjusted", "independent")
    )
    widths = [table["rating_high"] - table["rating_low"] for table in (adjusted, independent)]
    assert (widths[0] > 0.93 * widths[1]).all()  # draws
    assert people < 14 or (widths[0] < 1.2 * widths[1]).all()


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("patterns", [("ABC", "BCA"), ("ABC", "CBA"), ("ABCD", "BADC")])
def test_two_patterns_of_rankings_leave_no_direction_without_width(patterns):
    data = th.Choices.from_rankings([list(patterns[0])] * 9 + [list(patterns[1])] * 5)
    board = th.leaderboard(data, progressbar=False, random_seed=1)
    assert (board.table["rating_high"] - board.table["rating_low"] > 50.0).all()
    assert np.isfinite(board.more_votes().to_numpy()).all()


def test_what_unlikely_directions_get_does_not_depend_on_their_basis():
    """A turn within a degenerate space of eigenvectors, as another processor may make it, changes
    nothing."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(3, 6))
    variance = z.T @ z
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    found, turned = (
        raise_improbable_variance(ScoreVariance(each, each, 0.1, 1.0, 6, 1.0), 2.0, 0.5)
        for each in (variance, turn @ variance @ turn.T)
    )
    np.testing.assert_allclose(turn @ found @ turn.T, turned, atol=1e-10)
    np.testing.assert_allclose(np.sort(np.linalg.eigvalsh(found))[:3], 0.5**3, atol=1e-10)
    agreed = raise_improbable_variance(
        ScoreVariance(variance, np.zeros((6, 6)), 0.1, 1.0, 6, 1.0), 2.0, 0.5
    )
    np.testing.assert_allclose(
        np.linalg.eigvalsh(agreed), np.maximum(np.linalg.eigvalsh(variance), 1.0), atol=1e-10
    )


@pytest.mark.fit
@pytest.mark.parametrize("ties", [False, True])
def test_coefficients_of_covariates_are_spread_too(ties):
    """As the standard errors over people of maximum likelihood, whose sandwich is computed in other
    coordinates."""
    frame = answers(people=40, times=2, ties=ties)
    frame["length"] = np.random.default_rng(5).normal(size=len(frame)) * 30.0
    data = th.PairedComparisons.from_trials(frame, respondent="respondent", covariates=["length"])
    one = th.EliminationByAspects("unique", method="maximum-likelihood").fit(data)
    other = th.BradleyTerryLuce("maximum-likelihood").fit(data)
    assert other._estimates_.people.by == SCORES
    errors = other.summary()["std_error"]
    assert errors["covariate[length]"] == pytest.approx(
        one.covariate_effects()["std_error"].iloc[0], rel=1e-5
    )
    if ties:
        assert errors["log_tie"] == pytest.approx(
            one.maximum_likelihood.tie_std_error() / one.maximum_likelihood.tie(), rel=1e-5
        )


@pytest.mark.fit
def test_chains_with_a_power_have_the_posterior_of_quadrature():
    frame = pd.DataFrame(
        [(f"p{k}", "a", "b", "first" if k < 6 else "second") for k in range(8) for _ in range(3)],
        columns=["respondent", "first", "second", "chosen"],
    )
    data = th.PairedComparisons.from_trials(frame, respondent="respondent")
    model = th.EliminationByAspects("unique", people="adjusted", tempering=False)
    model.fit(data, draws=4000, tune=500, chains=4, random_seed=1, progressbar=False)
    found = dependence_of(model)
    assert found.by == POWER and 2.0 < found.effect < 4.0  # three answers that are one
    share = (np.arange(20_000) + 0.5) / 20_000  # of Gamma(1, 1) worths
    p = 0.99 * share + 0.005
    density = np.exp((18 * np.log(p) + 6 * np.log(1 - p)) / found.effect)
    mean = (density * p).sum() / density.sum()
    sd = np.sqrt((density * p**2).sum() / density.sum() - mean**2)
    row = model.summary().loc["choice_probability[a, b]"]
    assert abs(row["mean"] - mean) < 4 * row["mcse_mean"] and row["sd"] == pytest.approx(
        sd, rel=0.05
    )
    logs = model.posterior_["posterior"]["log_likelihood"].values.ravel()
    drawn = model.posterior_["posterior"]["choice_probability"].values.ravel()
    base = logs - 18 * np.log(drawn) - 6 * np.log(1 - drawn)
    assert np.ptp(base) < 1e-5  # the log-likelihood is that of the data, whatever the power


# what is made of people, by default and as asked for ----------------------------------------------


def once(people=10):
    return th.PairedComparisons.from_trials(
        answers(people=people, times=1).groupby("respondent").head(1), respondent="respondent"
    )


def mostly_once():
    frame = answers(people=30, times=1)
    frame = frame.groupby("respondent").head(1)
    return th.PairedComparisons.from_trials(
        pd.concat([frame, frame.head(5)]), respondent="respondent"
    )


def unknown():
    return th.PairedComparisons.from_trials(answers().drop(columns="respondent"))


MADE = {  # data, what is asked for, method: what is made of people, by what
    "known": (comparisons, None, "laplace", (ADJUSTED, SCORES)),
    "asked": (comparisons, "independent", "laplace", (INDEPENDENT, "")),
    "few people": (lambda: comparisons(people=5), None, "laplace", (ADJUSTED, SCORES)),
    "chains": (comparisons, None, "mcmc", (INDEPENDENT, "")),
    "chains, asked": (comparisons, "adjusted", "mcmc", (ADJUSTED, POWER)),
    "one respondent": (lambda: comparisons(people=1), None, "laplace", (INDEPENDENT, "")),
    "one answer each": (once, None, "laplace", (INDEPENDENT, "")),
    "one answer each, asked": (once, "adjusted", "laplace", (INDEPENDENT, "")),
    "few answered twice": (mostly_once, None, "laplace", (INDEPENDENT, "")),
    "few answered twice, asked": (mostly_once, "adjusted", "laplace", (ADJUSTED, SCORES)),
    "numbers with gaps": (lambda: comparisons(numbers=True), None, "laplace", (ADJUSTED, SCORES)),
    "ties": (lambda: comparisons(ties=True), None, "laplace", (ADJUSTED, SCORES)),
    "nobody known": (unknown, None, "laplace", None),
}


def shortly(data, people, method, aspects="unique"):
    """A model after a fit of a few draws; chains run as Python."""
    settings = {"draws": 4, "tune": 0, "chains": 2, "random_seed": 1, "progressbar": False}
    if method == "laplace":
        return th.BradleyTerryLuce(people=people).fit(data, **settings)
    with run_as_python():
        return th.EliminationByAspects(aspects, people=people).fit(data, thin=1, **settings)


def made_of(data, people, method, aspects="unique"):
    return dependence_of(shortly(data, people, method, aspects))


@pytest.mark.long
@pytest.mark.fit
@pytest.mark.parametrize("name", MADE)
def test_repeated_answers_are_treated_as_the_setting_asks(name):
    make, people, method, expected = MADE[name]
    found = made_of(make(), people, method)
    assert (None if found is None else (found.model, found.by)) == expected


@pytest.mark.fit
def test_a_person_with_all_ties_counts_where_ties_do():
    frame = answers(people=12)
    frame.loc[frame["respondent"] == "p3", "chosen"] = "tie"
    data = th.PairedComparisons.from_trials(frame, respondent="respondent")
    assert made_of(data, None, "laplace").number == 12
    assert made_of(data.without_ties("drop"), None, "laplace").number == 11


SAID = {
    "one answer each": (once, ("10 respondents", "once")),
    "one respondent": (lambda: comparisons(people=1), ("12 answers", "one respondent")),
}


@pytest.mark.fit
@pytest.mark.parametrize("name", SAID)
def test_what_cannot_be_adjusted_is_said(name):
    make, facts = SAID[name]
    model = shortly(make(), None, "laplace")
    found = model.findings()["independence"]
    said(found.sentence, *facts)
    assert model.convergence().people is None and found.good is None


@pytest.mark.fit
def test_one_answer_each_hardly_tells_how_alike_people_are():
    for data, is_said in ((once(), True), (comparisons(people=3), False)):
        model = th.BradleyTerryLuce(people=th.people.Individuals()).fit(data, draws=4, **QUIET)
        sentence = str(model.findings()["independence"].sentence)
        assert ("little information on heterogeneity" in sentence) == is_said


REFUSED = {
    "another word": (
        comparisons,
        {"people": "clustered"},
        ("people", "None, 'independent', 'adjusted'"),
    ),
    "nobody known": (
        unknown,
        {"people": "adjusted"},
        ("people='adjusted'", "which respondent gave each answer"),
    ),
    "one respondent": (
        lambda: comparisons(people=1),
        {"people": "adjusted"},
        ("answers are from one", "people='adjusted'"),
    ),
    "estimates": (
        comparisons,
        {"people": th.people.Individuals(), "method": "maximum-likelihood"},
        ("people", "None, 'independent', 'adjusted'"),
    ),
}


@pytest.mark.fit
@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_in_a_sentence(name):
    make, settings, facts = REFUSED[name]
    model = th.EliminationByAspects(**{"aspects": "unique", **settings})
    with refused((ArgumentError, DataError), *facts):
        model.fit(make(), **({} if settings.get("method") == "maximum-likelihood" else QUICK))


@pytest.mark.long
@pytest.mark.fit
def test_comparisons_with_covariates_are_adjusted():
    frame = answers().assign(length=np.linspace(-1, 1, 240))
    data = th.PairedComparisons.from_trials(frame, respondent="respondent", covariates=["length"])
    assert made_of(data, "adjusted", "mcmc").by == POWER


# fits ---------------------------------------------------------------------------------------------


def laplace(data, **settings):
    return th.BradleyTerryLuce(**settings).fit(data, **{**QUICK, "tune": 1000})


@pytest.mark.long
@pytest.mark.fit
def test_the_convergence_check_says_how_many_times_too_narrow(tmp_path):
    data = comparisons(people=30, times=4)
    model = laplace(data, people="independent")
    found, convergence = dependence_of(model), model.convergence()
    assert not convergence.good and f"by a factor of about {np.sqrt(found.effect):.2g}" in str(
        convergence
    )
    assert "set `people='adjusted'`" in str(convergence)
    assert (
        model.findings()["independence"].good is False
        and model.findings()["convergence"].good == convergence.agrees
    )
    adjusted = laplace(data)
    assert (
        adjusted.convergence().people is None and adjusted.findings()["independence"].good is True
    )
    assert "H⁻¹VH⁻¹" in " ".join(map(str, adjusted.findings()["methods"].notes))
    model.save(tmp_path / "fit.nc")
    assert dependence_of(th.load(tmp_path / "fit.nc")) == found


@pytest.mark.fit
def test_nothing_is_said_of_a_small_effect():
    model = shortly(comparisons(people=60, spread=0.0, times=4, seed=3), "independent", "laplace")
    assert dependence_of(model).effect < 1.1 and model.convergence().people is None
    assert "independence" not in model.findings()


@pytest.mark.fit
def test_the_prior_sample_ignores_the_power_of_the_likelihood():
    models = [
        th.EliminationByAspects("unique", people=people) for people in ("independent", "adjusted")
    ]
    one, other = (model.sample_prior(comparisons(), draws=5, random_seed=1) for model in models)
    assert one["prior"].equals(other["prior"])


@pytest.mark.long
def test_evidence_knows_no_power():
    models = [
        th.EliminationByAspects("unique", people=people) for people in ("independent", "adjusted")
    ]
    one, other = (
        log_evidence(model, comparisons(), draws=100, tune=20, chains=2).value for model in models
    )
    assert one == other


@pytest.mark.fit
def test_an_adjusted_fit_is_not_updated():
    model = th.EliminationByAspects("unique", people="adjusted")
    with run_as_python():
        model.fit(
            comparisons(people=4),
            draws=4,
            tune=0,
            chains=1,
            thin=1,
            random_seed=1,
            progressbar=False,
        )
    with refused(ArgumentError, "people='adjusted'"):
        model.update(th.PairedComparisons.from_pairs([("a", "b")]))
