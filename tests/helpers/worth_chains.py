"""Chains of worths that differ in what a test says, around one short run."""

from contextlib import contextmanager

import numpy as np

import thali._worths.hamiltonian_chains as chains
from helpers.limits import lower_in


def differing(monkeypatch):
    """A context in which chains agree, but for the quantity of a place, counted from the end where
    negative."""
    lower_in(chains, monkeypatch, MAX_R_HAT=1e6, MIN_ESS=0.0, N_TUNE=10, BLOCK_DRAWS=20)
    run, drawn = chains.run_chains, {}

    @contextmanager
    def differ(place=None):
        def drawn_once(marginal, *given, **named):
            size = marginal.density.size
            found = drawn.setdefault(size, None) or run(marginal, *given, **named)
            drawn[size] = found
            reported = np.random.default_rng(1).standard_normal((len(found.reported), 4, 500))
            if place is not None:
                reported[place, 0] += 9.0
            return found._replace(reported=reported)

        with monkeypatch.context() as patch:
            patch.setattr(chains, "run_chains", drawn_once)
            yield

    return differ
