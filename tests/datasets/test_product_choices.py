"""The simulated choice experiment whose classes are known."""

import numpy as np
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError


def test_the_seed_decides_and_the_sizes_are_those_asked_for():
    made, again = (
        th.datasets.product_choices(12, 5, alternatives=4, random_seed=3) for _ in range(2)
    )
    assert (
        made.data.to_frame().equals(again.data.to_frame()) and (made.owners == again.owners).all()
    )
    assert (made.data.n_respondents, made.data.n_tasks, made.data.n_alternatives) == (12, 60, 240)
    assert made.owners.shape == (12, len(made.classes)) == (12, 6)
    other = th.datasets.product_choices(12, 5, alternatives=4, random_seed=4)
    assert not made.data.to_frame().equals(other.data.to_frame())
    with refused(ArgumentError, "people"):
        th.datasets.product_choices(0)


def test_people_choose_by_the_classes_they_own():
    made = th.datasets.product_choices(400, 8, noise=0.0, random_seed=1)
    frame = made.data.to_frame()
    shares = [kind.share for kind in made.classes.values()]
    assert np.abs(made.owners.mean(axis=0) - shares).max() < 4 * 0.5 / np.sqrt(400)
    name, kind = next(iter(made.classes.items()))
    chosen = frame[frame["choice"] == 1]
    held = (
        chosen["price"]
        .isin(kind.levels["price"])
        .groupby(chosen["respondent"], sort=False)
        .mean()
        .to_numpy()
    )
    owns = made.owners[:, list(made.classes).index(name)]
    assert held[owns].mean() > 0.7 and held[~owns].mean() < 0.65  # cheap products are half of all
