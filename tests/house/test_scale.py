"""Large sparse data: cost and memory grow with the compared pairs, not with the square of the
options."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.cpu_time import time_ratio
from helpers.problems import random_comparisons

import thali as th
from thali._aspects.samplers.chains import FeatureChain
from thali._aspects.samplers.sampling_task import build_task

RUN = """
import re, sys, warnings
import numpy as np, pandas as pd, thali as th
options, comparisons, draws = {options}, {comparisons}, {draws}
rng = np.random.default_rng(1)
winner = rng.integers(0, options, comparisons)
loser = (winner + rng.integers(1, options, comparisons)) % options
data = th.PairedComparisons.from_frame(pd.DataFrame({{"chosen": winner, "rejected": loser}}))
warnings.simplefilter("ignore")
model = th.EliminationByAspects(alpha=1.0)
model.fit(data, draws=draws, tune=draws, chains=1, thin=5, random_seed=1, progressbar=False)
posterior = model.posterior_["posterior"]
assert "choice_probability" not in posterior and "features" not in posterior
assert posterior["unique_weights"].shape == (1, draws, options)
assert np.isfinite(posterior["log_likelihood"]).all()
model.features()
model.predict_proba([(data.labels[0], data.labels[1])])
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) / 1e6)
"""


def gigabytes(**sizes):
    if not Path("/proc/self/status").exists():
        pytest.skip("memory is measured on Linux only")
    code = RUN.format(**sizes)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


@pytest.mark.long
def test_a_million_comparisons_of_ten_thousand_options():
    assert gigabytes(options=10_000, comparisons=1_000_000, draws=10) < 4.0


@pytest.mark.long
@pytest.mark.parametrize("kind", ["given", "ibp"])
def test_time_of_a_sweep_is_linear_in_the_compared_pairs(kind):
    """At a fixed number of columns: eight times the pairs take about eight times as long, not
    sixty-four."""

    def begun(n):
        rng = np.random.default_rng(n)
        data = random_comparisons(n, n, most=3, missing=1.0 - 8.0 / n)
        # alpha is chosen so that the prior expects four columns
        prior = (
            th.priors.Given(rng.random((n, 4)) < 0.5)
            if kind == "given"
            else th.priors.IndianBuffet()
        )
        alpha = None if kind == "given" else 4.0 / np.sum(1.0 / np.arange(1, n + 1))
        settings = {"weight_prior": (1.0, 1.0), "draws": 1, "tune": 10**6, "thin": 1}
        chain = FeatureChain(
            build_task(prior, th.likelihoods.Elimination(), data, alpha=alpha, **settings), rng
        )
        chain.run_until(100)
        return data.n_pairs, lambda: chain.run_until(chain.sweeps + 20)

    (fewer, small), (more, large) = begun(200), begun(1600)
    ratio = time_ratio(large, small, tries=3, turns=3)
    # the columns of the buffet vary
    assert ratio / (more / fewer) < (2.0 if kind == "given" else 4.0)
