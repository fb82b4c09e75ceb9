"""Chains of both models that are run and timed one by one, without what a fit adds."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np


def plackett_luce_chain(
    X: Any, labels: Any, sampler: str, *, draws: int = 1, tune: int = 0, seed: Any = 0, a: Any = None
) -> Any:
    """A chain of Plackett–Luce regression on standardised covariates."""
    from thali.classify.plackett_luce.design import Design
    from thali.classify.plackett_luce.gibbs import Chain, settings_of
    from thali.classify.plackett_luce.state import class_rows, copies_of
    from thali.data.training_data import merged

    classes, codes = np.unique(labels, return_inverse=True)
    data = merged(X, codes)
    design = Design.fit(data.matrix, [f"x{j}" for j in range(X.shape[1])], counts=data.counts)
    W, codes = copies_of(data._replace(matrix=design.apply(data.matrix)))
    settings = settings_of(W.size, a, (1e-3, 1e2), 1.0, sampler, draws, tune, 1, 1)
    return Chain(settings, class_rows(W, codes, len(classes)), len(classes), np.random.default_rng(seed))


def logit_chain(
    X: Any, labels: Any, method: str, *, draws: int = 1, tune: int = 0, seed: Any = 0, wide: bool | None = None
) -> Any:
    """A chain of the sparse logit on standardised covariates, its reference the last class."""
    from thali.classify.input import standard_of
    from thali.classify.sparse_logit.chain import Chain, Prior, problem_of
    from thali.data.training_data import merged

    classes, codes = np.unique(labels, return_inverse=True)
    prior = Prior(None, 1.0, 1.0, True)
    data = merged(X, codes)
    z = standard_of(data.matrix, counts=data.counts).apply(data.matrix)
    problem = problem_of(z, data.codes, len(classes), len(classes) - 1, prior, method, wide, data.counts)
    return Chain(problem, None, np.random.default_rng(seed), draws, tune, 1)


def seconds(make: Callable[..., Any], sweeps: int) -> float:
    """CPU seconds of a sweep, compiling and the first sweep not counted; `make` takes `draws`."""
    chain = make(draws=sweeps + 1)
    chain.run_to(1)
    begin = time.process_time()
    chain.run_to(sweeps + 1)
    return (time.process_time() - begin) / sweeps
