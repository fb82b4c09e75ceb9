"""Product classes for tests: a choice experiment, and models that hold draws from the prior instead
of a fit's."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

import thali
from helpers.naive.product_classes import random_particles
from thali._choice.product_classes.posterior_datatree import build_classes_datatree
from thali._choice.product_classes.ragged_draws import Particles
from thali._data.experiments.fitted_design import build_design

ATTRIBUTES = {
    "price": ["100", "150", "200", "250"],
    "brand": ["Aika", "Bora", "Cilo"],
    "zoom": ["no", "yes"],
    "battery": ["4 h", "8 h", "12 h"],
}
MONOTONE = {"price": "decreasing", "zoom": "increasing", "battery": "increasing"}


def experiment(people=8, tasks=5, seed=1, attributes=None, none=False):
    """Choices at random; tasks of 2 to 4 alternatives."""
    rng = np.random.default_rng(seed)
    attributes = ATTRIBUTES if attributes is None else attributes
    rows = []
    for person in range(people):
        for task in range(tasks):
            size = int(rng.integers(2, 5))
            chosen = int(rng.integers(size + none))
            for alternative in range(size):
                levels = {
                    name: values[int(rng.integers(len(values)))]
                    for name, values in attributes.items()
                }
                rows.append(
                    (f"p{person}", task, alternative, int(alternative == chosen), *levels.values())
                )
            if none:
                rows.append(
                    (
                        f"p{person}",
                        task,
                        "none",
                        int(size == chosen),
                        *(v[0] for v in attributes.values()),
                    )
                )
    frame = pd.DataFrame(rows, columns=["id", "task", "alt", "choice", *attributes])
    return thali.ChoiceExperiment.from_frame(
        frame, levels=attributes, none="none" if none else None
    )


def engine_result(data, monotone=None, *, seed=1, draws=6, groups=2, **prior):
    """What an engine returns, with draws from the prior."""
    monotone = MONOTONE if monotone is None else monotone
    signs = {"increasing": 1, "decreasing": -1}
    direction = [signs.get(monotone.get(name, ""), 0) for name in data.attributes]
    levels = [len(data.levels[name]) for name in data.attributes]
    rng = np.random.default_rng(seed)
    particles = random_particles(
        rng, levels, direction, data.n_respondents, draws=draws, groups=groups, **prior
    )
    particles = particles._replace(log_likelihood=rng.normal(-80.0, 3.0, draws * groups))
    steps = np.arange(1, 21)
    return SimpleNamespace(
        particles=particles,
        log_evidence=-90.0,
        log_evidence_se=0.4,
        evidence_sd=0.8,
        trace={
            "log_evidence": -90.0 * steps / 20
            + np.cumsum(rng.normal(0, 0.3, (groups, 20)), axis=1),
            "lapse": np.geomspace(1.0, 0.02, 20),
        },
        messages=["One sentence.", "Another."],
        interrupted=False,
    )


def drawn(data=None, monotone=None, **settings):
    """The draws and the design that `fitted` holds."""
    data = experiment() if data is None else data
    return engine_result(data, monotone, **settings).particles, build_design(data)


def fitted(data=None, monotone=None, *, model=None, **settings):
    """A model that holds such draws."""
    data = experiment() if data is None else data
    monotone = MONOTONE if monotone is None else monotone
    result = engine_result(data, monotone, **settings)
    return hold(thali.ProductClasses(monotone) if model is None else model, result, data)


def hold(model, result, data):
    """The model, fitted to the data with what an engine returned."""
    tree = build_classes_datatree(result, build_design(data), {"draws": 600, "tune": 100}, None, {})
    model._restore(
        {"posterior_": tree, "_fitted_to_": str(data), "_people_": data.people}, "memory"
    )
    return model


def of_draws(draws, the_design):
    """A model that holds these draws of a study with this design."""
    groups = int(draws.group.max()) + 1
    trace = {"log_evidence": np.zeros((groups, 2)), "lapse": np.ones(2)}
    evidence = {"log_evidence": 0.0, "log_evidence_se": 0.1, "evidence_sd": 0.0}
    result = SimpleNamespace(
        particles=draws, trace=trace, messages=[], interrupted=False, **evidence
    )
    tree = build_classes_datatree(result, the_design, {"draws": 600, "tune": 100}, None, {})
    directions = zip(the_design.scheme.names, draws.monotone, strict=True)
    model = thali.ProductClasses({name: DIRECTIONS[sign] for name, sign in directions if sign})
    model._restore({"posterior_": tree, "_fitted_to_": "a study", "_people_": None}, "memory")
    return model


DIRECTIONS = {1: "increasing", -1: "decreasing"}


def single(
    owned,
    *,
    members,
    monotone=(0,),
    offset=(0, 2),
    a=1.0,
    sigma=0.5,
    lapse=0.0,
    alpha=1.0,
    beta=1.0,
):
    """One draw of one person who owns classes (member, sign, log theta)."""
    members = np.array(members, bool).reshape(-1, offset[-1])
    cells = np.split(members, offset[1:-1], axis=1)
    ones = np.ones(len(members), np.int64)
    return Particles(
        group=np.zeros(1, np.int64),
        a=np.array([a]),
        sigma=np.array([sigma]),
        alpha=np.array([alpha]),
        log_likelihood=np.zeros(1),
        lapse=lapse,
        beta=beta,
        offset=np.array(offset, np.int64),
        monotone=np.array(monotone, np.int8),
        first_class=np.array([0, len(members)], np.int64),
        active=np.column_stack([~cell.all(axis=1) for cell in cells]),
        member=members,
        polarity=np.full(len(members), -1, np.int8),
        n_owners=ones,
        n_negative=np.array([sign for sign, _ in owned], np.int64),
        first_owned=np.array([0, len(owned)], np.int64),
        owned_class=np.arange(len(owned)),
        owned_sign=np.array([sign for sign, _ in owned], np.int8),
        owned_log_theta=np.array([theta for _, theta in owned]),
    )
