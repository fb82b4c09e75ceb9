"""Mixed logit of xlogit or jaxlogit, run by `hierarchical_peers.py` in an environment that has it.

    python mixed_logit_peer.py FOLDER xlogit|jaxlogit DRAWS

FOLDER holds problem.npz: x (rows, p), task, person, chosen (rows,), in tasks of equally many
alternatives. All coefficients are normal; jaxlogit's are correlated, xlogit has independent ones
only. Writes estimate.npz: mean (p,), covariance (p, p), log_likelihood.
"""

import sys
from pathlib import Path

import numpy as np


def by_xlogit(x, names, y, alternative, task, person, draws):
    """Simulated maximum likelihood by BFGS."""
    from xlogit import MixedLogit

    model = MixedLogit()
    model.fit(
        X=x, y=y, varnames=names, alts=alternative, ids=task, panels=person, randvars=dict.fromkeys(names, "n"),
        n_draws=draws, verbose=0, skip_std_errs=True,
    )  # fmt: skip
    found = dict(zip(map(str, model.coeff_names), model.coeff_, strict=True))
    mean = np.array([found[name] for name in names])
    sd = np.array([found[f"sd.{name}"] for name in names])
    return mean, np.diag(sd**2), model.loglikelihood


def by_jaxlogit(x, names, y, alternative, task, person, draws):
    """The same with correlated coefficients, by automatic differentiation."""
    import jax

    jax.config.update("jax_enable_x64", True)
    from jaxlogit._config_data import ConfigData
    from jaxlogit.mixed_logit import MixedLogit

    model = MixedLogit()
    config = ConfigData(panels=person, n_draws=draws, include_correlations=True, skip_std_errs=True)
    found = model.fit(x, y, names, alternative, task, dict.fromkeys(names, "n"), config, verbose=0)
    value = dict(zip(map(str, model.coeff_names), np.asarray(found.x), strict=True))
    # softplus, as they parametrise it
    factor = np.diag(np.logaddexp(0.0, [value[f"sd.{name}"] for name in names]))
    for row, one in enumerate(names):
        for column, other in enumerate(names[:row]):
            factor[row, column] = value[f"chol.{other}.{one}"]
    return np.array([value[name] for name in names]), factor @ factor.T, -float(found.fun)


if __name__ == "__main__":
    folder, package, draws = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    problem = np.load(folder / "problem.npz")
    x, task = problem["x"], problem["task"]
    alternatives = np.bincount(task)[0]
    names = [f"x{k:02d}" for k in range(x.shape[1])]
    alternative = np.tile(np.arange(alternatives), len(task) // alternatives)
    run = {"xlogit": by_xlogit, "jaxlogit": by_jaxlogit}[package]
    mean, covariance, log_likelihood = run(
        x, names, problem["chosen"], alternative, task, problem["person"], draws
    )
    np.savez(
        folder / "estimate.npz", mean=mean, covariance=covariance, log_likelihood=log_likelihood
    )
