"""The benchmarks still run, and compare like with like."""

import warnings
from importlib import import_module

import numpy as np
import pytest
from helpers.places import PROJECT

import thali as th
from thali._choice.product_classes.state import build_class_problem, build_target, build_workspace
from thali._choice.product_classes.sweep import draw_state, sweep_state

FOLDER = PROJECT / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    return import_module


@pytest.mark.first(4)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param(
            "effective_draws", "published, plain arithmetic", marks=pytest.mark.long
        ),  # compiles three samplers
        # compiles the samplers of all models
        pytest.param("simulation_based_calibration", "not calibrated: 0", marks=pytest.mark.long),
        # compiles four samplers
        pytest.param("posterior_check_p_values", "ibp, row by row", marks=pytest.mark.long),
        ("willingness_to_pay", "hierarchical logit, posterior means"),
        ("conjoint_coverage", "60 respondents, restricted: effects"),
        ("leaderboard_speed", "thali davidson laplace"),
        ("chi_square_size", "Cochran"),
        # compiles four samplers
        pytest.param("log_evidence", "called not usable", marks=pytest.mark.long),
        ("product_class_chains", "chains for .03"),
        ("product_class_agreement", "two kinds"),
        ("default_fits", "forecast, least"),
        ("run_time_forecast", "ratio"),
        ("hierarchical_peers", "hierarchical logit, correlated"),
        ("hierarchical_scale", "all of the population"),
        ("judge_discrimination", "rank correlation"),
        ("judges_held_to_people", "coverage"),
        ("more_votes", "forecast"),
        ("leaderboard_spread", "coverage"),
        ("worths_in_time", "leaderboard in time less"),
        pytest.param("design_efficiency", "dominated product 0", marks=pytest.mark.long),
        ("style_control", "CPU seconds"),
        ("kernel_compilation", "entries"),
        ("latent_class_logit", "times_found"),
        ("leaderboard_effective_draws", "(chosen)"),
        ("multinomial_logit_studies", "amounts in units of price"),
        ("numpyro_finite", "thali / NumPyro"),
        ("numpyro_logit", "thali / NumPyro"),
        ("plackett_luce_regression", "draws a CPU second at a = 1, default / plain sweep"),
        ("sparse_logit_maximum", "liblinear ratio"),
        ("sparse_logit_rows", "worst effective sample size"),
        ("sparse_logit_table", "scikit-learn, l2"),
        pytest.param("sweep_cost", "exponent of the time of a sweep", marks=pytest.mark.long),
        ("additive_samplers", "gain"),
        pytest.param("triplets", "1,000 sweeps", marks=pytest.mark.long),
        pytest.param("speeds", "classifier", marks=pytest.mark.long),  # in processes of its own
        ("start_up", "import thali"),
        ("thinning", "a CPU s"),
        # compiles a sampler
        pytest.param("respondent_worths", "three-directions", marks=pytest.mark.long),
        pytest.param("next_question", "saves", marks=pytest.mark.long),
    ],
)
def test_the_smallest_size_runs(benchmark, capsys, name, said):
    if name.startswith("numpyro"):
        pytest.importorskip("numpyro")
    with warnings.catch_warnings():  # a benchmark silences all those of its process
        benchmark(name).main(small=True)
    assert said in capsys.readouterr().out


def test_every_benchmark_is_in_the_readme_or_a_page_of_figures():
    pages = [FOLDER / "README.md", *(FOLDER / "figures").glob("*.md")]
    texts = "".join(page.read_text(encoding="utf-8") for page in pages)
    for path in FOLDER.glob("*.py"):
        assert path.name in texts


def test_every_planted_bug_has_its_place(benchmark):
    assert benchmark("planted_bugs").main(small=True) == 0


@pytest.mark.long
def test_the_check_is_never_anti_conservative(benchmark):
    """P(p < .05) <= .05 where the model is true; 4.5 standard errors above it are allowed."""
    calibration = benchmark("posterior_check_p_values")
    overall, rows = calibration.p_values("unique", calibration.PAIRS, 10, 100, 2)
    assert np.mean(overall < 0.05) < 0.05 + 4.5 * np.sqrt(0.05 * 0.95 / 100)
    assert np.mean(rows < 0.05) < 0.05


@pytest.mark.long  # compiles two samplers from outside the library
def test_plain_arithmetic_gives_the_same_draws(benchmark):
    effective_draws = benchmark("effective_draws")
    data = th.datasets.paris_rome(expected=True)
    found = []
    for likelihood in (th.likelihoods.Elimination(), effective_draws.PlainElimination()):
        with effective_draws.compiled_alike():
            posterior, _ = effective_draws.run(
                th.priors.IndianBuffet(),
                likelihood,
                data,
                effective_draws.ALGORITHM_1,
                150,
                10,
                1,
                1,
                1,
            )
        found.append(posterior)
    fast, plain = found
    assert np.array_equal(fast["n_features"], plain["n_features"])
    # Fewer sweeps than the caches are kept for: each change adds a rounding error of its size at
    # most.
    np.testing.assert_allclose(fast["log_likelihood"], plain["log_likelihood"], rtol=1e-9)


def test_sparse_data_are_as_described(benchmark):
    data = benchmark("effective_draws").sparse()
    assert (data.n_options, data.n_pairs, data.n_comparisons) == (30, 120, 1200)
    degree = np.bincount(np.concatenate([data.first, data.second]))
    assert (degree == 8).all()


def test_the_exponent_of_a_power_law(benchmark):
    scaling = benchmark("sweep_cost")
    assert scaling.exponent([1, 10, 1000], [3.0, 300.0, 3e6]) == pytest.approx(2.0)
    data = scaling.random_data(40, 300, np.random.default_rng(1))
    assert (data.n_options, data.n_pairs, data.n_comparisons) == (40, 300, 1200)


@pytest.mark.long
def test_visits_written_plainly_do_the_same_and_take_more_than_twice_as_long(benchmark):
    plain_visits = benchmark("plain_visits")
    made = th.datasets.product_choices(40, 10, random_seed=1)
    problem = build_class_problem(made.data, made.monotone)
    rng, target = np.random.default_rng(1), build_target(problem)
    state = draw_state(rng, problem)
    work = build_workspace(problem, state)
    for u in np.geomspace(0.02, 49.0, 200):
        target.delta[:] = 1.0 / (1.0 + u)
        state, work = sweep_state(rng, problem, target, state, work, 1)
    # and all ends are alike
    spent, _, _ = plain_visits.seconds(rng, problem, target, state, 20, repeats=3)
    assert spent["plain"] > 2.0 * spent["library"]
