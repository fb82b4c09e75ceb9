"""Additive clustering of 16 to 150 objects: whether the chains agree, and what an annealed run
finds.

    python benchmarks/additive_many_objects.py [countries,phonemes,morse,faces]

1. `AdditiveClustering().fit`, sigma chosen by cross-validation unless it was measured (faces,
   .089): the largest R-hat of the log-likelihood, of the similarity of any pair, and of the number
   of features that a pair shares (four chains).
2. `AdditiveClustering(method="map").fit`: log p(F, S) of the ends of 20 annealed runs (best and
   median), with and without memberships of an object drawn together (`moves/joint_ownership.py`).
"""

import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
from similarity_sigma import similarities

import thali as th
from thali._aspects.draws.feature_columns import read_columns
from thali._aspects.draws.fitted_similarities import compute_similarities
from thali._aspects.models import annealing
from thali._aspects.samplers import default_sweeps
from thali._inference.user_warnings import silence_warnings
from thali._posterior.summary_table import compute_diagnostics

MEASURED = {"faces": 0.0891633}
TABLES = ("countries", "phonemes", "morse", "faces")


def r_hats(model: Any) -> list[float]:
    """The largest R-hat of the log-likelihood, of similarities, and of numbers of shared
    features."""
    posterior = model.posterior_["posterior"].dataset
    shape = (-1, posterior.sizes["chain"], posterior.sizes["draw"])
    columns, pairs = read_columns(model._view), np.triu_indices(posterior.sizes["option"], 1)
    constant = (
        posterior["constant"].values.ravel()
        if "constant" in posterior
        else np.zeros(columns.n_draws)
    )
    similarity = compute_similarities(columns, constant, *pairs)
    shared = compute_similarities(
        replace(columns, weights=np.ones_like(columns.weights)), 0.0 * constant, *pairs
    )
    found = [
        posterior["log_likelihood"].values[None],
        similarity.T.reshape(shape),
        shared.T.reshape(shape),
    ]
    return [float(np.nanmax(compute_diagnostics(draws)[1])) for draws in found]


def chains(name: str) -> None:
    begin = time.process_time()
    with silence_warnings():
        model = th.AdditiveClustering(sigma=MEASURED.get(name))
        model.fit(
            similarities(name),
            draws=200,
            tune=300,
            thin=20,
            cores=1,
            random_seed=1,
            progressbar=False,
        )
    found = "  ".join(f"{each:.3f}" for each in r_hats(model))
    print(
        f"{name:10} sigma {model.sigma_:.3f}  R-hat {found}  ({time.process_time() - begin:.0f}"
        " CPU s)",
        flush=True,
    )


def annealed(name: str) -> None:
    evidence_of, together = annealing.compute_evidence, annealing.sweep_conjugate_jointly
    for way, kernel, sweeps in (
        ("together", together, 2000),
        ("one by one", default_sweeps.sweep_conjugate, 2000),
        ("one by one", default_sweeps.sweep_conjugate, 20_000),
    ):
        ends: list[float] = []

        def noted(sets: Any, *others: Any, ends: list[float] = ends) -> Any:
            found = evidence_of(sets, *others)
            ends += [found[int(number)] for number in sets.of_draw]
            return found

        annealing.compute_evidence, annealing.sweep_conjugate_jointly, annealing.RUN_SWEEPS = (
            noted,
            kernel,
            sweeps,
        )
        begin = time.process_time()
        with silence_warnings():
            model = th.AdditiveClustering(sigma=MEASURED.get(name), method="map")
            model.fit(similarities(name), cores=1, random_seed=1, progressbar=False)
        used = time.process_time() - begin
        print(
            f"{name:10} {way}, {sweeps} sweeps: {max(ends):.1f} {np.median(ends):.1f} ({used:.0f}"
            " CPU s)",
            flush=True,
        )
    annealing.compute_evidence, annealing.sweep_conjugate_jointly = evidence_of, together


def main() -> None:
    for name in sys.argv[1].split(",") if len(sys.argv) > 1 else TABLES:
        chains(name)
        annealed(name)


if __name__ == "__main__":
    main()
