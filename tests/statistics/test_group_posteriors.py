"""Groups of people, by likelihood: posteriors known by quadrature, invariance of the moves, their
own simulations."""

import math

import numpy as np
import pytest
from helpers.all_drawn import all_drawn
from helpers.group_problems import (
    columns_owned_by,
    contents,
    drawn,
    geweke,
    in_each_group,
    key,
    mean_and_error,
    means,
    pair,
    small_chain,
    task,
)
from helpers.joint_distribution import simulate_choices, simulate_pairs, simulate_similarities
from helpers.joint_means import LIMIT
from helpers.kind_problems import OfSets
from helpers.naive import latent_features as naive
from helpers.problems import random_comparisons, random_similarities, three_options
from helpers.set_problems import choices_of, random_choices
from scipy import special, stats
from scipy.stats import binom

import thali as th
import thali._aspects.moves.group_base_weights as group_similar
import thali._aspects.moves.group_compensated_moves as group_together
import thali._aspects.moves.group_owners as group_owners
from thali._aspects.chain_state import BETA, COLUMNS, replica
from thali._aspects.group_state import (
    KAPPA,
    SLOPE_SD,
    fill_weight_factors,
    select_common_weights,
    select_group_likelihood,
)
from thali._aspects.kernel_operations import log_likelihood, select_cache
from thali._aspects.populations.group_chains import GroupChain, sample_group_states
from thali._aspects.populations.several_groups import sample_base
from thali._testing import exact

ERRORS = 4.5  # Monte Carlo errors that a mean may be off

# Two options, lapse .01: data by group, alpha, weights, kappa; E of the columns of either option
# alone, E p by group, E alpha, E kappa; the error of these numbers themselves.
KNOWN = [
    (
        [(3, 1), (1, 3)],
        1.0,
        "free",
        None,
        (0.49823972, 0.49823972),
        (0.64524244, 0.35475756),
        {},
        0.0,
    ),
    (
        [(8, 2), (2, 8)],
        1.0,
        "free",
        None,
        (0.43475807, 0.43475807),
        (0.73394642, 0.26605358),
        {},
        0.0,
    ),
    (
        [(20, 0), (5, 5), (0, 0)],
        2.0,
        "free",
        None,
        (1.35151557, 0.21379120),
        (0.94416377, 0.54042270, 0.64064481),
        {},
        0.0,
    ),
    (
        [(8, 2), (2, 8)],
        None,
        "free",
        None,
        (0.40309076, 0.40309076),
        (0.73588250, 0.26411750),
        {"alpha": 0.90309076, "n_features": 1.25772690},
        0.0,
    ),
    ([(8, 2), (2, 8)], 1.0, "similar", 2.0, (0.4601, 0.4601), (0.7021, 0.2980), {}, 1e-4),
    (
        [(8, 2), (2, 8)],
        1.0,
        "similar",
        math.nan,
        (0.4788, 0.4788),
        (0.5948, 0.4051),
        {"kappa": 14.729},
        6e-4,
    ),
]


def as_choices(first, second):
    return choices_of({("1", "2"): (first, second)}, ["1", "2"])


def hold_against(
    data, alpha, weights, kappa, owned, chosen, others, error, draws, of_pair=pair, likelihood=None
):
    of_task = task(
        [of_pair(*each) for each in data],
        likelihood,
        alpha=alpha,
        weights=weights,
        kappa=math.nan if kappa is None else kappa,
        draws=draws,
        tune=500,
        thin=5,
    )
    found = drawn(of_task)
    alone = [columns_owned_by(found, (i,)) for i in range(2)]
    total = [found.unique_weights[:, :, i] + alone[i][1] for i in range(2)]
    p = 0.99 * total[0] / (total[0] + total[1]) + 0.005
    values = [*zip((each[0] for each in alone), owned, strict=True), *zip(p.T, chosen, strict=True)]
    of_draws = {"alpha": found.alpha, "n_features": found.n_features, "kappa": found.extra["kappa"]}
    values += [(of_draws[name], expected) for name, expected in others.items()]
    for draw, expected in values:
        mean, own_error = mean_and_error(draw)
        assert abs(mean - expected) < ERRORS * own_error + 4.0 * error * (
            15.0 if expected > 2 else 1.0
        )


@pytest.mark.first(2)
@pytest.mark.parametrize("case", [KNOWN[2], KNOWN[3], KNOWN[4], KNOWN[5]])
def test_posterior_means(case):
    hold_against(*case, draws=8_000)


@pytest.mark.first(1)
@pytest.mark.parametrize("case", [KNOWN[3], KNOWN[4]])
def test_posterior_means_of_choices_out_of_sets_of_two(case):
    hold_against(*case, draws=4_000, of_pair=as_choices, likelihood=OfSets(0.01))


@pytest.mark.long
@pytest.mark.parametrize("case", KNOWN)
def test_posterior_means_of_long_runs(case):
    hold_against(*case, draws=400_000)


def test_the_known_values_are_those_of_quadrature():
    """Given the numbers of columns alone each group's p is Beta, as its weights are exponential and
    independent."""
    x, at = np.polynomial.legendre.leggauss(200)
    p, of_p = (1 + x) / 2, at / 2
    lapsed = 0.99 * p + 0.005
    singles = range(20)
    number = {k: math.exp(-0.5) * 0.5**k / math.factorial(k) for k in singles}
    total, first, means = 0.0, 0.0, np.zeros(2)
    for i in singles:
        for j in singles:
            density = (
                of_p
                * p**i
                * (1 - p) ** j
                * math.gamma(i + j + 2)
                / (math.gamma(i + 1) * math.gamma(j + 1))
            )
            each = [density * binom.pmf(n, 4, lapsed) / math.comb(4, n) for n in (3, 1)]
            part = number[i] * number[j] * each[0].sum() * each[1].sum()
            total, first = total + part, first + i * part
            means += [part * (values * lapsed).sum() / values.sum() for values in each]
    assert math.log(total) == pytest.approx(-6.02168699, abs=1e-7)
    assert [first / total, *(means / total)] == pytest.approx(
        [0.49823972, 0.64524244, 0.35475756], abs=1e-7
    )


# Two objects, sigma .05, weights and constants Gamma(1, 10), alpha 1: similarities by group; E of
# the columns that both own, P of one at least, E of the modelled similarity by group.
ADDITIVE = [
    ((0.35,), 0.993265, 0.709582, (0.332524,)),
    ((0.35, 0.05), 0.561289, 0.488393, (0.329290, 0.063487)),
    ((0.35, 0.30), 1.317102, 0.884210, (0.334956, 0.286688)),
    ((0.6, 0.5, 0.0), 1.201502, 0.869293, (0.580200, 0.481281, 0.055598)),
]


@pytest.mark.long
@pytest.mark.parametrize(("similar", "columns", "present", "fitted"), ADDITIVE)
@pytest.mark.filterwarnings("ignore::thali.errors.DataWarning")
def test_posterior_means_of_similarities(similar, columns, present, fitted):
    data = [th.Similarities([[1, s], [s, 1]]) for s in similar]
    more = {"weight_prior": (1.0, 10.0), "likelihood": th.likelihoods.Additive(0.05)}
    found = drawn(task(data, alpha=1.0, draws=200_000, tune=500, thin=5, **more))
    number, weight = columns_owned_by(found, (0, 1))
    values = [(number, columns), (number > 0, present)]
    values += [(weight[:, g] + found.extra[f"constant {g}"], mean) for g, mean in enumerate(fitted)]
    for draw, expected in values:
        mean, error = mean_and_error(draw)
        assert abs(mean - expected) < ERRORS * error + 1e-6


def offered(groups):
    """Choices out of sets of two and three of three options, of another number of sets in each
    group."""
    return [random_choices(3, (2, 3), seed, kept=1.0 if seed else 0.6) for seed in range(groups)]


PAIRS = [random_comparisons(3, seed) for seed in range(3)], None
SETS = offered(2), OfSets(0.01)
MOVES = [("flips", "free"), ("compensated", "similar"), ("plain", "similar"), ("transfer", "free")]
MOVES += [("transfer", "similar"), ("plain", "free"), ("together", "similar")]
MOVES += [("exchange", "free"), ("exchange", "similar")]


@pytest.mark.first(9)
@pytest.mark.parametrize(
    ("data", "likelihood", "move", "weights"),
    [(*PAIRS, *each) for each in MOVES[:5]]
    + [(*PAIRS, *MOVES[8]), (*SETS, *MOVES[7])]
    + [(*SETS, *MOVES[at]) for at in (0, 1, 5, 4, 6, 8)]
    + [(*PAIRS, move, "of known people") for move in ("compensated", "transfer", "together")],
)
def test_moves_of_owners_leave_the_posterior_invariant(data, likelihood, move, weights):
    known = np.array([[0.8], [-1.1], [0.3]]) if weights == "of known people" else np.zeros((0, 0))
    weights = "similar" if len(known) else weights
    of_task = task(
        data,
        likelihood,
        alpha=1.5,
        weights=weights,
        kappa=2.0 if weights == "similar" else math.nan,
    )
    of_task.model = of_task.model._replace(known=known)
    model, groups = of_task.model, len(data)
    matrix = [[1, 1], [1, 0], [0, 0]] if move == "transfer" else [[1, 0], [1, 1], [0, 1]]
    shared = [[0.7, 1.3], [0.4, 0.5], [2.0, 2.5]][:groups]
    chain = small_chain(of_task, matrix, shared, np.array([[0.8, 1.0, 1.2]] * groups))
    base = type(chain.bases)(*(array[0] for array in chain.bases))
    base.v[:2] = [0.6, 0.9] if weights == "similar" else [1.0, 1.0]
    if len(known):
        base.slope[:2, 0], base.unique_slope[:, 0] = [0.5, -0.7], [0.2, -0.3, 0.4]
        for slope, covariate_factor in (
            (base.slope, base.covariate_factor),
            (base.unique_slope, base.unique_covariate_factor),
        ):
            for k in range(len(slope)):
                fill_weight_factors(known, slope, covariate_factor, k)
    prior = th.priors.IndianBuffet()

    def whole(parts):
        return key(parts), np.round(parts[2].unique, 9).tobytes()

    def log_target(parts):
        Z, w, s = contents(parts[0])
        v, own, kappa = parts[2].v[: Z.shape[1]], parts[2].unique, parts[2].real[KAPPA]
        total = prior.log_prob(Z[0].T.astype(bool), 1.5)
        for g, each in enumerate(data):
            assert np.array_equal(Z[g], Z[0])
            total += naive.log_likelihood(each, Z[g].T.astype(bool), w[g], s[g], 0.01)
            at, own_at = v, own
            if len(known):
                at, own_at = (
                    v * np.exp(known[g] @ parts[2].slope[: len(v)].T),
                    own * np.exp(known[g] @ parts[2].unique_slope.T),
                )
            total += np.sum((kappa - 1.0) * np.log(w[g]) - kappa * np.log(at) - kappa * w[g] / at)
            total += np.sum(
                (kappa - 1.0) * np.log(s[g]) - kappa * np.log(own_at) - kappa * s[g] / own_at
            )
        return total - (v.sum() + own.sum() if weights == "similar" else 0.0)

    def step(rng, parts):
        states, caches, its_base = parts
        if move == "flips":
            group_owners.propose_group_flip(rng, model, caches, states, 0, 2)
            group_owners.propose_group_flip(rng, model, caches, states, 1, 0)
        elif move == "transfer":
            group_owners.propose_group_split_or_join(rng, model, caches, states, its_base)
        elif move == "together":
            group_together.propose_joint_flip(rng, model, caches, states, its_base)
        elif move == "exchange":
            group_owners.propose_owner_exchange(rng, model, caches, states, its_base)
        else:
            share = 1.0 if move == "compensated" else 0.0
            group_owners.propose_compensated_group_flip(rng, model, caches, states, its_base, share)

    assert exact.invariance_error(step, (chain.state, chain.cache, base), whole, log_target) < 1e-12


def test_changes_that_are_kept_are_those_of_the_definition(uncompiled):
    """After some sweeps the stored log-likelihoods are those of the columns and weights, in every
    group."""
    data = [random_choices(4, (2, 3, 4), seed, kept=0.7) for seed in range(3)]
    of_task = task(data, OfSets(0.02), weights="similar", draws=6)
    chain = small_chain(of_task, [[1], [1], [0], [0]], [[0.5]] * 3, np.ones((3, 4)))
    chain.run_until(6)
    Z, w, s = contents(chain.state)
    for g, each in enumerate(data):
        likelihood = select_group_likelihood(of_task.model.likelihood, g)
        found = log_likelihood(
            likelihood, select_cache(likelihood, chain.cache, g), replica(chain.state, g)
        )
        expected = naive.log_likelihood(each, Z[g].T.astype(bool), w[g], s[g], 0.02)
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("to", [-1.2, 0.9, 2.5])
def test_the_density_along_which_kappa_moves_with_all_weights_is_that_of_the_definition(
    to, uncompiled
):
    """Standard scores of log (w / v) stay, and the density is that of kappa and the weights, times
    the change of these; at the way back everything is as it was."""
    data = [random_comparisons(3, seed) for seed in range(3)]
    of_task = task(data, alpha=1.5, weights="similar", tempering=[1.0, 1.6])
    shared = [[0.7, 1.3], [0.4, 0.5], [2.0, 2.5]]
    chain = small_chain(
        of_task,
        [[1, 0], [1, 1], [0, 1]],
        shared,
        np.array([[0.8, 1.0, 1.2], [0.1, 2.0, 3.0], [1.0] * 3]),
    )
    base = type(chain.bases)(*(array[0] for array in chain.bases))
    base.v[:2], base.unique[:] = [0.6, 0.9], [1.1, 0.7, 2.0]
    replica(chain.state, 0).real[BETA] = 0.4

    def scores(kappa):
        _, w, s = contents(chain.state)
        spread = np.sqrt(special.polygamma(1, kappa))
        middle = special.digamma(kappa) - np.log(kappa)
        return (np.log(np.hstack([w / base.v[:2], s / base.unique])) - middle) / spread

    def log_target(x):
        Z, w, s = contents(chain.state)
        kappa = np.exp(x)
        total = x + stats.gamma.logpdf(kappa, 2.0, scale=10.0)
        for g, each in enumerate(data):
            total += 0.4 * naive.log_likelihood(each, Z[g].T.astype(bool), w[g], s[g], 0.01)
        ratios = np.hstack([w / base.v[:2], s / base.unique])
        in_scores = np.log(ratios) + 0.5 * np.log(special.polygamma(1, kappa))
        return total + np.sum(stats.gamma.logpdf(ratios, kappa, scale=1.0 / kappa) + in_scores)

    def stretched(x):
        return group_similar.set_kappa_and_weights(of_task.model, chain.cache, chain.state, base, x)

    x, before = math.log(base.real[KAPPA]), scores(base.real[KAPPA])
    weights = [each.copy() for each in contents(chain.state)[1:]]
    first, expected = stretched(x), log_target(x)
    found = stretched(to)
    assert base.real[KAPPA] == pytest.approx(math.exp(to))
    np.testing.assert_allclose(scores(base.real[KAPPA]), before, rtol=1e-6)
    assert found - first == pytest.approx(log_target(to) - expected, abs=1e-6)
    stretched(x)
    for was, now in zip(weights, contents(chain.state)[1:], strict=True):
        np.testing.assert_allclose(now, was, rtol=1e-9)
    assert stretched(math.log(1e-4)) == -math.inf  # weights would be too small for numbers
    np.testing.assert_allclose(contents(chain.state)[2], weights[1], rtol=1e-9)


def of_pairs(groups, weights):
    data = [random_comparisons(4, seed=seed, most=2) for seed in range(groups)]
    of_task = task(data, th.likelihoods.Elimination(0.05), weights=weights)
    return (
        of_task,
        means(4, weights == "similar"),
        lambda rng, pairs, b, c: simulate_pairs(rng, pairs, c),
    )


def of_sets(groups, weights):
    data = [random_choices(4, (2, 3, 4), seed, most=1, kept=0.4) for seed in range(1, 1 + groups)]
    of_task = task(data, OfSets(0.05), weights=weights)
    return (
        of_task,
        means(4, weights == "similar"),
        lambda rng, sets, b, c: simulate_choices(rng, sets, b, c),
    )


def of_similarities(groups, weights):
    data = [random_similarities(4, seed=seed) for seed in range(groups)]
    of_task = task(data, th.likelihoods.Additive(2.0), weights=weights, weight_prior=(1.0, 2.0))
    return (
        of_task,
        means(4, weights == "similar", unique=False, mean=0.5) | {"constant": 0.5},
        simulate_similarities,
    )


ROWS = [pytest.param(of_pairs, 1_200, id="pairs"), pytest.param(of_sets, 400, id="sets")]
ROWS += [
    pytest.param(make, rounds, id=f"{make.__name__}, long", marks=pytest.mark.long)
    for make, rounds in ((of_pairs, 60_000), (of_sets, 40_000), (of_similarities, 60_000))
]


# of three people; nothing of the last one
KNOWN_OF_PEOPLE = np.array([[1.0, 0.5], [-1.0, 1.5], [0.0, 0.0]])


def seen_of_slopes(chain):
    """What a joint test looks at of the slopes, and of how the weights depend on them."""
    base = select_common_weights(chain.bases, 0)
    Z, w, s = contents(chain.state)
    slopes, shared = base.slope[: len(Z[0])], Z[0].sum(axis=1) > 1
    along = KNOWN_OF_PEOPLE.T @ np.log(w)  # (columns of people, features)
    return {
        "slope": base.unique_slope[0].sum(),
        "slope squared": (base.unique_slope[0] ** 2).sum(),
        "slope product": np.prod(base.unique_slope[0]),
        "shared slope squared": (slopes[shared] ** 2).sum(),
        "along": base.unique_slope[0] @ (KNOWN_OF_PEOPLE.T @ np.log(np.maximum(s[:, 0], 1e-300))),
        "shared along": np.sum(slopes.T * along * shared),
    }


def means_of_slopes(expected):
    """Prior means with these columns of people; of the last person, of whom nothing is known, they
    stay."""
    columns = KNOWN_OF_PEOPLE.shape[1]
    lifted = math.exp(0.5 * SLOPE_SD**2 * np.sum(KNOWN_OF_PEOPLE[0] ** 2))
    shared = expected["columns"] - expected["single"]
    along = np.sum(KNOWN_OF_PEOPLE**2) * SLOPE_SD**2
    found = expected | {
        name: lifted * expected[name] for name in ("both", "both shared") if name in expected
    }
    found |= {
        "shared slope squared": columns * SLOPE_SD**2 * shared,
        "shared along": along * shared,
    }
    if "unique weight" in expected:
        found |= {
            "slope": 0.0,
            "slope squared": columns * SLOPE_SD**2,
            "slope product": 0.0,
            "along": along,
        }
    return found


@pytest.mark.first(4)
@pytest.mark.filterwarnings("ignore::thali.errors.DataWarning")
@pytest.mark.parametrize(
    ("groups", "weights"),
    [(2, "free"), (3, "similar"), (3, "of persons"), (3, "of persons, known")],
)
@pytest.mark.parametrize(("make", "rounds"), ROWS)
def test_joint_distribution(make, rounds, groups, weights):
    of_task, expected, simulate = make(groups, "free" if weights == "free" else "similar")
    of_task.model = of_task.model._replace(persons=weights.startswith("of persons"))
    seen = [lambda chain: {"constant": chain.cache.real[-1, 0]}] if "constant" in expected else []
    if weights.endswith("known"):
        of_task.model, expected = (
            of_task.model._replace(known=KNOWN_OF_PEOPLE.copy()),
            means_of_slopes(expected),
        )
        seen.append(seen_of_slopes)
    chain = GroupChain(of_task, np.random.default_rng(77))
    more = lambda chain: {name: value for each in seen for name, value in each(chain).items()}  # noqa: E731
    scores = geweke(chain, expected, rounds, in_each_group(simulate), more)
    assert max(abs(z) for z in scores.values()) < LIMIT, scores


def test_one_group_has_the_posterior_of_its_data():
    """That of the sampler of one group, whose columns of single options are summed up."""
    data = three_options()
    found = drawn(task([data], alpha=1.0, draws=8_000, tune=500, thin=5))
    model = th.EliminationByAspects(alpha=1.0)
    model.fit(data, draws=4_000, tune=500, thin=5, chains=2, random_seed=1, progressbar=False)
    other = all_drawn(model.posterior_)
    for owners in ((0, 1), (1, 2), (0,)):
        mine, error = mean_and_error(columns_owned_by(found, owners)[0])
        features = other["features"].values.reshape(-1, *other["features"].shape[2:])
        same = (features == np.isin(range(3), owners)).all(axis=2).sum(axis=1)
        theirs, other_error = mean_and_error(same)
        assert abs(mine - theirs) < ERRORS * math.hypot(error, other_error)


@pytest.mark.long
def test_names_and_order_of_groups_do_not_matter():
    data = [random_comparisons(3, seed) for seed in (5, 6)]
    chosen = []
    for order in (data, data[::-1]):
        model = th.EliminationByAspects(tempering=False, people=th.people.Groups()).fit(
            dict(zip("ab", order, strict=True)),
            draws=1500,
            tune=300,
            chains=2,
            random_seed=3,
            progressbar=False,
        )
        chosen.append(model.posterior_["posterior"]["choice_probability"].values)
    for g in range(2):
        for p in range(3):
            one, other = (
                mean_and_error(draws[:, :, k, p].ravel())
                for draws, k in zip(chosen, (g, 1 - g), strict=True)
            )
            assert abs(one[0] - other[0]) < ERRORS * math.hypot(one[1], other[1])


def answers_at(rng, states, times):
    """Comparisons of each person with these columns and weights, every two options so often."""
    columns, n = int(states[0].whole[COLUMNS]), states[0].Z.shape[1] - 1
    found = []
    for b in states:
        counts, features = np.zeros((n, n)), b.Z[:columns, :n].T.astype(bool)
        for i, j in zip(*np.triu_indices(n, 1), strict=True):
            p = naive.pair_probability(i, j, features, b.w[:columns], b.s[:n], 0.01)
            counts[i, j] = rng.binomial(times, p)
            counts[j, i] = times - counts[i, j]
        found.append(th.PairedComparisons(counts))
    return found


@pytest.mark.long
def test_slopes_and_kappas_of_people_are_calibrated():
    """The true ones have uniform ranks among draws of the posterior, over data that are drawn from
    the prior."""
    rng, people, draws = np.random.default_rng(6), 8, 39
    known = rng.normal(size=(people, 1))
    ranks = []
    for number in range(100):
        first = task(
            [th.PairedComparisons(np.ones((3, 3)) - np.eye(3))] * people, weights="similar"
        )
        first.model = first.model._replace(persons=True, known=known)
        states, base = sample_group_states(rng, first, sample_base)
        of_task = task(
            answers_at(rng, states, 4), weights="similar", draws=draws, tune=150, thin=20
        )
        of_task.model = of_task.model._replace(persons=True, known=known)
        found = drawn(of_task, number)
        own = found.unique_weights
        true = [base.unique_slope[0, 0] - base.unique_slope[1, 0], base.real[KAPPA], base.unique[0]]
        each = [
            own[:, people + 1, 0] - own[:, people + 1, 1],
            found.extra["kappa"],
            own[:, people, 0],
        ]
        ranks.append([np.sum(values < value) for values, value in zip(each, true, strict=True)])
    for of_one in np.array(ranks).T:
        assert (
            stats.kstest((of_one + rng.random(len(of_one))) / (draws + 1), "uniform").pvalue > 1e-4
        )
