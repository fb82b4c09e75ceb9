"""A simulated choice experiment in which respondents care about classes of products."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._argument_checks import check_integer
from thali._inference.random_seeds import RandomSeed, spawn_generators

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


class SimulatedProductClass(NamedTuple):
    """A simulated class of products: levels, share of owners, liked or disliked."""

    levels: dict[str, tuple[str, ...]]
    liked: bool
    share: float


SIMULATED_CLASSES = {
    "price <= 200": SimulatedProductClass({"price": ("100", "200")}, True, 0.8),
    "brand in {Aika, Bora}": SimulatedProductClass({"brand": ("Aika", "Bora")}, True, 0.5),
    "type != tin": SimulatedProductClass({"type": ("box", "bag")}, True, 0.4),
    "quality = high & lamp = yes": SimulatedProductClass(
        {"quality": ("high",), "lamp": ("yes",)}, True, 0.5
    ),
    "price = 100 & brand in {Cilo, Dane}": SimulatedProductClass(
        {"price": ("100",), "brand": ("Cilo", "Dane")}, True, 0.4
    ),
    "price = 400 & quality = low": SimulatedProductClass(
        {"price": ("400",), "quality": ("low",)}, False, 0.6
    ),
}


class ProductChoices(NamedTuple):
    """A simulated choice experiment and the classes that generated it.

    Parameters
    ----------
    data : ChoiceExperiment
    monotone : dict
        The directions of preferences, as for `ProductClasses`.
    classes : dict from str to SimulatedProductClass
        The classes that respondents care about: levels, whether they are liked, and the share of
        respondents who own them.
    owners : bool array, shape (people, classes)
    """

    data: "ChoiceExperiment"
    monotone: dict[str, str]
    classes: dict[str, SimulatedProductClass]
    owners: np.ndarray


def product_choices(
    people: int = 50,
    tasks: int = 10,
    *,
    alternatives: int = 3,
    noise: float = 0.3,
    random_seed: RandomSeed = None,
) -> ProductChoices:
    r"""Simulate choices of respondents who each care about some of six product classes.

    .. math::
        u_{nt}(x) = \sum_k z_{nk} (\pm)\, v_{nk}\, 1(x \in \Lambda_k)
        + \text{noise} \cdot \text{Gumbel}, \qquad
        v_{nk} \sim \text{Gamma}(2, 1)

    Products have a price (4 levels), a brand (4), a type (3), a quality (3) and a lamp (yes or no);
    all levels are equally frequent; three of the classes combine two attributes. Each respondent
    owns each class with its share as probability.

    Parameters
    ----------
    people, tasks : int
        Numbers of respondents and of tasks per respondent, at least 1.
    alternatives : int
        Number of alternatives per task, at least 2.
    noise : float, at least 0
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
    ChoiceExperiment(20 respondents, 120 tasks of 3 alternatives)
      price: 100 < 200 < 300 < 400
      brand: Aika, Bora, Cilo, Dane
      type: bag, box, tin
      quality: low < fair < high
      lamp: no, yes
    >>> made.owners.shape
    (20, 6)
    """
    from thali._data.experiments import ChoiceExperiment

    people = check_integer("people", people, 1)
    tasks = check_integer("tasks", tasks, 1)
    (rng,) = spawn_generators(random_seed, 1)
    frame = _simulate_products(people, tasks, check_integer("alternatives", alternatives, 2), rng)
    owners = rng.random((people, len(SIMULATED_CLASSES))) < [
        product_class.share for product_class in SIMULATED_CLASSES.values()
    ]
    respondent_index = frame["respondent"].to_numpy() - 1
    utilities = noise * rng.gumbel(size=len(frame))
    for k, product_class in enumerate(SIMULATED_CLASSES.values()):
        effect_size = rng.gamma(2.0, size=people)[respondent_index]
        is_member = np.all(
            [frame[name].isin(levels) for name, levels in product_class.levels.items()], axis=0
        )
        if not product_class.liked:
            effect_size = -effect_size
        utilities += effect_size * owners[respondent_index, k] * is_member
    utilities_by_task = utilities.reshape(people * tasks, -1)
    is_best = utilities_by_task == utilities_by_task.max(axis=1, keepdims=True)
    # ties are broken randomly
    best_index = (is_best * (1.0 + rng.random(utilities_by_task.shape))).argmax(axis=1)
    frame["choice"] = (np.arange(alternatives) == best_index[:, None]).ravel()
    data = ChoiceExperiment.from_frame(frame, levels={"quality": list(LEVELS["quality"])})
    return ProductChoices(data, dict(MONOTONE), dict(SIMULATED_CLASSES), owners)


def _simulate_products(
    people: int, tasks: int, alternatives: int, rng: np.random.Generator
) -> "pandas.DataFrame":
    """Return a table of random products, one row per alternative of each task."""
    import pandas as pd

    n_rows = people * tasks * alternatives
    frame = pd.DataFrame(
        {
            "respondent": np.repeat(np.arange(people) + 1, tasks * alternatives),
            "task": np.tile(np.repeat(np.arange(tasks) + 1, alternatives), people),
            "alternative": np.tile(np.arange(alternatives) + 1, people * tasks),
        }
    )
    for name, levels in LEVELS.items():
        frame[name] = np.asarray(levels)[rng.integers(len(levels), size=n_rows)]
    return frame
