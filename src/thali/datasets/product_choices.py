"""A choice experiment with a known truth: who cares about which classes of products."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import check_integer
from thali._inference.seeds import spawn_generators

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments import ChoiceExperiment

LEVELS: dict[str, tuple[str, ...]] = {
    "price": ("100", "200", "300", "400"),
    "brand": ("Aika", "Bora", "Cilo", "Dane"),
    "type": ("box", "bag", "tin"),
    "quality": ("low", "fair", "high"),
    "lamp": ("no", "yes"),
}
MONOTONE = {"price": "decreasing", "quality": "increasing"}


class Kind(NamedTuple):
    """A class of products: its levels of some attributes, the share of people who own it, and their
    sign."""

    levels: dict[str, tuple[str, ...]]
    liked: bool
    share: float


KINDS = {
    "price <= 200": Kind({"price": ("100", "200")}, True, 0.8),
    "brand in {Aika, Bora}": Kind({"brand": ("Aika", "Bora")}, True, 0.5),
    "type != tin": Kind({"type": ("box", "bag")}, True, 0.4),
    "quality = high & lamp = yes": Kind({"quality": ("high",), "lamp": ("yes",)}, True, 0.5),
    "price = 100 & brand in {Cilo, Dane}": Kind(
        {"price": ("100",), "brand": ("Cilo", "Dane")}, True, 0.4
    ),
    "price = 400 & quality = low": Kind({"price": ("400",), "quality": ("low",)}, False, 0.6),
}


class ProductChoices(NamedTuple):
    """A simulated choice experiment, and the truth behind it.

    Parameters
    ----------
    data : ChoiceExperiment
    monotone : dict
        The directions in which preferences rise, as `ProductClasses` takes them.
    classes : dict from str to Kind
        The classes that people care about: levels, whether they are liked, the share of people who
        own them.
    owners : bool array, shape (people, classes)
    """

    data: "ChoiceExperiment"
    monotone: dict[str, str]
    classes: dict[str, Kind]
    owners: np.ndarray


def product_choices(
    people: int = 50,
    tasks: int = 10,
    *,
    alternatives: int = 3,
    noise: float = 0.3,
    random_seed: Any = None,
) -> ProductChoices:
    r"""Choices of people who each care about some of six classes of products.

    .. math::
        u_{nt}(x) = \sum_k z_{nk} (\pm)\, v_{nk}\, 1(x \in \Lambda_k)
        + \text{noise} \cdot \text{Gumbel}, \qquad
        v_{nk} \sim \text{Gamma}(2, 1)

    Products have a price (4 levels), a brand (4), a type (3), a quality (3) and a lamp (yes or no);
    all levels are equally frequent; three of the classes combine two attributes. Each person owns
    each class with its share as probability.

    Parameters
    ----------
    people, tasks : int
        1 or more; every person has this many tasks.
    alternatives : int
        2 or more, in each task.
    noise : float, 0 or more
        Scale of the noise.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

    Returns
    -------
    ProductChoices
        data, monotone, classes, owners.

    Raises
    ------
    ArgumentError
        If an argument is outside its range.

    Examples
    --------
    >>> made = product_choices(20, 6, random_seed=1)
    >>> made.data
    ChoiceExperiment(20 respondents, 120 tasks, 360 alternatives)
      price: 100 < 200 < 300 < 400
      brand: Aika, Bora, Cilo, Dane
      type: bag, box, tin
      quality: low < fair < high
      lamp: no, yes
    >>> made.owners.shape
    (20, 6)
    """
    from thali._data.experiments import ChoiceExperiment

    people, tasks = check_integer("people", people, 1), check_integer("tasks", tasks, 1)
    (rng,) = spawn_generators(random_seed, 1)
    frame = _table(people, tasks, check_integer("alternatives", alternatives, 2), rng)
    owners = rng.random((people, len(KINDS))) < [kind.share for kind in KINDS.values()]
    person = frame["respondent"].to_numpy() - 1
    utility = noise * rng.gumbel(size=len(frame))
    for k, kind in enumerate(KINDS.values()):
        value = rng.gamma(2.0, size=people)[person]
        holds = np.all([frame[name].isin(levels) for name, levels in kind.levels.items()], axis=0)
        utility += (1 if kind.liked else -1) * value * owners[person, k] * holds
    by_task = utility.reshape(people * tasks, -1)
    is_best = by_task == by_task.max(axis=1, keepdims=True)
    best = (is_best * (1.0 + rng.random(by_task.shape))).argmax(axis=1)  # any of equally good ones
    frame["choice"] = (np.arange(alternatives) == best[:, None]).ravel()
    data = ChoiceExperiment.from_frame(frame, levels={"quality": list(LEVELS["quality"])})
    return ProductChoices(data, dict(MONOTONE), dict(KINDS), owners)


def _table(
    people: int, tasks: int, alternatives: int, rng: np.random.Generator
) -> "pandas.DataFrame":
    """All products of all tasks, at random."""
    import pandas as pd

    rows = people * tasks * alternatives
    frame = pd.DataFrame(
        {
            "respondent": np.repeat(np.arange(people) + 1, tasks * alternatives),
            "task": np.tile(np.repeat(np.arange(tasks) + 1, alternatives), people),
            "alternative": np.tile(np.arange(alternatives) + 1, people * tasks),
        }
    )
    for name, levels in LEVELS.items():
        frame[name] = np.asarray(levels)[rng.integers(len(levels), size=rows)]
    return frame
