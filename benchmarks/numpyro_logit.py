"""Effective draws per CPU second on the sparse multinomial logit, thali's divided by NumPyro's
NUTS.

    pip install -r benchmarks/numpyro-requirements.txt
    python benchmarks/numpyro_logit.py [FOLDER]

The worst of log-likelihood, ln eta and all coefficients counts. One core (the script pins itself to
one), double precision, compiled; compiling, tuning and warm-up are not counted. NumPyro sees the
Laplace prior itself, without its scales, and coefficients that are multiplied by the square root of
eta; its chains run one after the other, since in a batch every chain waits for the longest tree.
Besides wine, breast cancer (scikit-learn's) and simulated data it takes iris.csv and heart.csv out
of FOLDER (UCI; the class in the last column).
"""

import os
import sys
import time
from pathlib import Path

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from effective_sample_sizes import columns, mean_and_error, worst_ess, worst_rhat
from numpyro.infer import NUTS

from thali._classify.sparse_logit.markov_chain import (
    CoefficientChain,
    CoefficientPrior,
    build_coefficient_problem,
)

numpyro.enable_x64()


def simulated(n: int = 200, d: int = 6):
    """Covariates and three classes that two of the covariates distinguish."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    scores = np.column_stack([np.zeros(n), 2.0 * X[:, 0], X[:, 1] - X[:, 0]]) + rng.gumbel(
        size=(n, 3)
    )
    return X, scores.argmax(axis=1)


def problems(folder, small=False):
    if small:
        return {"simulated": simulated()}
    import pandas as pd
    from sklearn.datasets import load_breast_cancer, load_wine

    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 50))
    linear = X[:, :4] @ [2.0, -2.0, 1.5, 1.0]
    tables = {
        "wine": load_wine(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
    }
    tables["250 x 50"] = X, (linear + rng.logistic(size=250) > 0).astype(int)
    found = {name: ((X - X.mean(0)) / X.std(0), codes) for name, (X, codes) in tables.items()}
    found["simulated"] = simulated()
    if folder is None:
        return found
    for name in ("iris", "heart"):
        table = pd.read_csv(Path(folder) / f"{name}.csv")
        X = table.iloc[:, :-1].to_numpy(float)
        found[name] = (
            (X - X.mean(0)) / X.std(0),
            np.unique(table.iloc[:, -1], return_inverse=True)[1],
        )
    return found


def model(X, codes, classes):
    """The last class is the reference."""
    eta = numpyro.sample("eta", dist.Gamma(1.0, 1.0))
    shape = (classes - 1, X.shape[1])
    coef = numpyro.sample("z", dist.Laplace(jnp.zeros(shape), 1.0).to_event(2)) / jnp.sqrt(eta)
    intercept = numpyro.sample("intercept", dist.Normal(jnp.zeros(classes - 1), 10.0).to_event(1))
    linear = jnp.column_stack([X @ coef.T + intercept, jnp.zeros(len(X))])
    chosen = jnp.take_along_axis(linear, codes[:, None], axis=1)[:, 0]
    log_likelihood = jnp.sum(chosen - jax.scipy.special.logsumexp(linear, axis=1))
    numpyro.deterministic("coef", coef)
    numpyro.deterministic("log_likelihood", log_likelihood)
    numpyro.factor("labels", log_likelihood)


def run_numpyro(X, codes, classes, chains, warm_up, draws):
    """Quantities (chain, draw), CPU seconds after warm-up, divergent trajectories."""
    kernel, arguments = NUTS(model), (jnp.asarray(X), jnp.asarray(codes), classes)

    def sweep(state, _):
        state = kernel.sample(state, arguments, {})
        return state, (kernel.postprocess_fn(arguments, {})(state.z), state.diverging)

    def sweeps(count):
        return jax.jit(lambda state: jax.lax.scan(sweep, state, length=count))

    tune, sample = sweeps(warm_up), None
    found, spent, divergent = [], 0.0, 0
    for seed in range(chains):
        state, _ = tune(kernel.init(jax.random.key(seed), warm_up, None, arguments, {}))
        sample = sample or sweeps(draws).lower(state).compile()
        begin = time.process_time()
        _, (drawn, apart) = jax.block_until_ready(sample(state))
        spent += time.process_time() - begin
        divergent += int(apart.sum())
        found.append(
            (
                drawn["log_likelihood"],
                np.log(drawn["eta"]),
                np.asarray(drawn["coef"]).reshape(draws, -1),
            )
        )
    return quantities(found), spent, divergent


def run_thali(X, codes, classes, chains, tune, draws, thin):
    problem = build_coefficient_problem(
        X, codes, classes, classes - 1, CoefficientPrior(None, 1.0, 1.0, True), n_trajectories=2
    )
    CoefficientChain(problem, None, np.random.default_rng(0), 1, 1, 1).run_until(1)  # compiles
    found, spent = [], 0.0
    for seed in range(chains):
        chain = CoefficientChain(problem, None, np.random.default_rng([1, seed]), draws, tune, thin)
        chain.run_until(tune * thin)
        begin = time.process_time()
        chain.run_until(chain.total)
        spent += time.process_time() - begin
        coefs = chain.record.coef[:, :-1, : problem.n_penalised].reshape(draws, -1)
        found.append((chain.record.log_likelihood, np.log(chain.record.eta), coefs))
    return quantities(found), spent


def quantities(found):
    return [draws for each in zip(*found, strict=True) for draws in columns(np.stack(each))]


def worst_difference(ours, theirs):
    """The largest difference of posterior means, in its Monte Carlo standard errors."""
    z = []
    for a, b in zip(ours, theirs, strict=True):
        (mean, error), (other, its) = mean_and_error(a), mean_and_error(b)
        z.append(abs(mean - other) / np.hypot(error, its))
    return max(z)


def main(small: bool = False, folder=None) -> None:
    chains, tune, draws = (2, 50, 100) if small else (4, 1_000, 2_000)
    thin = 1
    for name, (X, codes) in problems(folder, small).items():
        classes = int(codes.max()) + 1
        ours, seconds = run_thali(X, codes, classes, chains, tune, draws, thin)
        theirs, their_seconds, divergent = run_numpyro(X, codes, classes, chains, tune, draws)
        here, there = worst_ess(ours) / seconds, worst_ess(theirs) / their_seconds
        print(
            f"{name}: worst effective draws a CPU second, thali {here:,.0f} (R-hat"
            f" {worst_rhat(ours):.3f}), NumPyro {there:,.0f} (R-hat {worst_rhat(theirs):.3f},"
            f" {divergent} divergent); thali / NumPyro {here / there:.1f}"
        )
        print(
            f"  {len(ours)} posterior means differ by {worst_difference(ours, theirs):.1f}"
            " standard errors at most"
        )


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    words = [word for word in sys.argv[1:] if word != "--small"]
    main("--small" in sys.argv[1:], words[0] if words else None)
