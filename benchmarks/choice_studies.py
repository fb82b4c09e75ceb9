"""Choice experiments of 100 people: every model of thali and bayesm's hierarchical logit, known and
new respondents.

    python benchmarks/choice_studies.py FOLDER [--seeds 2] [--draws 3] [--only camera]

FOLDER holds dce_camera/choices.csv and dce_electricity/choices.csv. Three draws of 100 people;
everybody's last 4 tasks are predicted, and those of all others as those of new respondents. Models
are as they are by default; product classes and the logit with signs get the directions below.
bayesm (R, rhierMnlRwMixture with one component, 20,000 sweeps, of which every tenth is kept and the
first quarter dropped) gets thali's columns; it is left out where Rscript or bayesm is not
installed. Log scores are means over tasks, with their standard errors over people; a difference is
the paired one to bayesm, or to the hierarchical logit where bayesm is left out.

Then the smallest number of effective draws, of means and standard deviations in the population, for
each CPU second.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from arviz_stats.base.array import array_stats
from bayesm_peer import fit_bayesm, has_bayesm

import thali as th
from thali._choice.logit_likelihood import choice_probabilities
from thali._choice.product_coding import build_coding

SWEEPS = 20_000
BETTER = ("pixels", "zoom", "video", "swivel", "wifi")
DIRECTIONS = {
    "camera": {"price": "decreasing"} | dict.fromkeys(BETTER, "increasing"),
    "electricity": {"loc": "increasing", "wk": "increasing"},
}


class Score(NamedTuple):
    """A model on the same tasks as the others."""

    seconds: float  # CPU, of the fit
    yields: float  # effective draws of the population a CPU second; NaN: of no chains of it
    log: dict[str, np.ndarray]  # "known", "new" -> mean log score of every person
    hit: dict[str, np.ndarray]


def data_of(folder: Path, name: str) -> "th.ChoiceExperiment":
    """The study; in electricity the attributes that the rate implies are left out."""
    frame = pd.read_csv(folder / f"dce_{name}/choices.csv")
    if name == "camera":
        return th.ChoiceExperiment.from_frame(frame, none={"brand": "none"})
    return th.ChoiceExperiment.from_frame(frame, attributes=["rate", "cl", "loc", "wk"])


def scored(p: np.ndarray, test: "th.ChoiceExperiment") -> tuple[np.ndarray, np.ndarray]:
    """Mean log score and hit rate of every person."""
    first = test.first_row[:-1]
    chosen = p[first + test.chosen]
    hit = chosen >= np.maximum.reduceat(p, first) - 1e-12
    tasks = np.diff(test.first_task)
    log, hits = (
        np.add.reduceat(x, test.first_task[:-1]) / tasks
        for x in (np.log(chosen), hit.astype(float))
    )
    return log, hits


def smallest_yield(draws: np.ndarray) -> float:
    """Effective size of draws (chain, draw, quantity), of the worst quantity."""
    return min(float(array_stats.ess(draws[..., k])) for k in range(draws.shape[2]))


def of_thali(model, train, tests: dict, seed: int | None) -> Score:
    """A model of thali; `seed` None: it needs none."""
    begin = time.process_time()
    model.fit(train) if seed is None else model.fit(train, random_seed=seed, progressbar=False)
    seconds = time.process_time() - begin
    yields = np.nan
    if isinstance(model, th.HierarchicalLogit):
        yields = float(model.population()["ess_bulk"].iloc[:-1].min()) / seconds
    found = {name: scored(model.predict_proba(test), test) for name, test in tests.items()}
    return Score(
        seconds, yields, *({name: each[i] for name, each in found.items()} for i in range(2))
    )


def of_bayesm(train, tests: dict, seed: int) -> Score:
    """bayesm's hierarchical logit on thali's columns."""
    coding = build_coding(train)
    x = coding.encode_codes(train.products)[train.row_product]
    p = x.shape[1]
    alternatives, tasks = int(np.diff(train.first_row)[0]), np.diff(train.first_task)
    seconds, beta, population = fit_bayesm(x, train.chosen, tasks, alternatives, (SWEEPS, seed))
    # R's columns are rows
    means, roots = population[:, :p], np.swapaxes(population[:, p:].reshape(-1, p, p), 1, 2)
    # Sigma = R^T R for R = solve(rooti), since Sigma^-1 = rooti rooti^T
    covariances = np.swapaxes(roots, 1, 2) @ roots
    sds = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    yields = smallest_yield(np.concatenate([means, sds], axis=1)[None]) / seconds
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(len(means), p))
    fresh = means + np.einsum("sji,sj->si", roots, noise)
    log, hit = {}, {}
    for name, test in tests.items():
        rows = coding.encode_codes(test.products)[test.row_product]
        task_of_row = np.repeat(np.arange(test.n_tasks), np.diff(test.first_row))
        person_of_row = test.respondent_of_task[task_of_row]
        p_rows = np.empty(len(rows))
        for person in range(test.n_respondents):
            own = np.flatnonzero(person_of_row == person)
            tastes = (
                fresh
                if name == "new"
                else beta[:, :, train.respondents.index(test.respondents[person])]
            )
            p_rows[own] = choice_probabilities(
                rows[own] @ tastes.T, task_of_row[own] - task_of_row[own[0]]
            ).mean(axis=1)
        log[name], hit[name] = scored(p_rows, test)
    return Score(seconds, yields, log, hit)


def study(folder: Path, name: str, draws: int, seeds: int) -> None:
    """All models on draws of 100 people."""
    data = data_of(folder, name)
    train, test = data.split(tasks=4)
    directions = DIRECTIONS[name]
    found: dict[str, list[Score]] = {}
    for draw in range(draws):
        people = np.random.default_rng(100 + draw).choice(data.n_respondents, 100, replace=False)
        own = np.isin(train.respondent_of_task, people)
        asked = np.isin(test.respondent_of_task, people)
        fitted, tests = train.take(own), {"known": test.take(asked), "new": test.take(~asked)}
        found.setdefault("multinomial", []).append(
            of_thali(th.MultinomialLogit(), fitted, tests, None)
        )
        for seed in range(seeds):
            models = {
                "classes": th.ProductClasses(monotone=directions),
                "hierarchical": th.HierarchicalLogit(),
                "hierarchical, sign of price": th.HierarchicalLogit(signs={"price": "decreasing"}),
            }
            if "price" not in directions:
                del models["hierarchical, sign of price"]
            for label, model in models.items():
                found.setdefault(label, []).append(of_thali(model, fitted, tests, seed))
            if has_bayesm():
                found.setdefault("bayesm", []).append(of_bayesm(fitted, tests, seed))
    rival = "bayesm" if has_bayesm() else "hierarchical"
    print(f"{name}: {draws} draws of 100 people, {seeds} seeds")
    of_kind = "".join(
        f"{'log, ' + kind:>18}{'hit':>7}{'difference':>18}" for kind in ("known", "new")
    )
    print(f"  {'':28}{'CPU s':>8}{'yield':>8}{of_kind}")
    for label, scores in found.items():
        words = f"  {label:28}{np.mean([s.seconds for s in scores]):8.1f}{np.mean([s.yields for s in scores]):8.1f}"
        for kind in ("known", "new"):
            logs = np.concatenate([_by_draw(scores, kind, draw, draws) for draw in range(draws)])
            others = np.concatenate(
                [_by_draw(found[rival], kind, draw, draws) for draw in range(draws)]
            )
            off = logs - others
            hits = np.mean([s.hit[kind].mean() for s in scores])
            words += (
                f"{logs.mean():10.4f} ({_error(logs):.3f}){hits:7.3f}{off.mean():+10.4f}"
                f" ({_error(off):.3f})"
            )
        print(words, flush=True)


def _by_draw(scores: list[Score], kind: str, draw: int, draws: int) -> np.ndarray:
    """Log scores of the people of one draw, mean over seeds."""
    each = len(scores) // draws
    return np.mean([score.log[kind] for score in scores[draw * each : (draw + 1) * each]], axis=0)


def _error(values: np.ndarray) -> float:
    """Standard error of the mean over people."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--only", choices=list(DIRECTIONS))
    asked = parser.parse_args()
    warnings.simplefilter("ignore", th.errors.ThaliWarning)
    for name in [asked.only] if asked.only else DIRECTIONS:
        study(asked.folder, name, asked.draws, asked.seeds)
