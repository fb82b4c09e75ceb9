"""Figures of Navarro & Griffiths (2007, section 6): numbers, countries and letters, and the length of each run here."""

from typing import NamedTuple

import numpy as np

PAPER = "Navarro & Griffiths (2007)"
ALPHA, RATE = 0.5, 10.0  # the paper states alpha only for the numbers, and does not state the prior of weights
ESTIMATORS = {
    "conditional-map": "conditional MAP",
    "map-features": "MAP features",
    "joint-map": "joint MAP",
    "expectation": "expectation",
}


class Printed(NamedTuple):
    """A feature in the paper's tables, and its probability in a longer run."""

    probability: float
    weight: float  # mean over the draws that have it
    long_run: float  # probability that an independent implementation found by tempering, 8 chains
    long_run_error: float


class Design(NamedTuple):
    """One data set."""

    name: str
    table: str
    features: dict[tuple[str, ...], Printed]
    constant: float
    sigma: float
    explained: float  # variance accounted for, %
    above: float  # features more probable than this are listed, the paper's aside
    modal: float  # number of features; NaN: not given
    shares: dict[tuple[int, int], float]  # probability that the number of features is in this range
    more_probable: tuple[float, int] | None  # a probability, and how many features have a larger one
    draws: tuple[int, int, int]  # small, standard, full
    thin: int

    @property
    def labels(self) -> list[str]:
        """All objects; each is in some feature of the paper's tables of numbers and countries."""
        if self.name == "additive-letters":
            return [chr(ord("A") + number) for number in range(26)]
        return sorted({label for members in self.features for label in members})


NUMBERS = Design(
    name="additive-numbers",
    table="Table 1(b)",
    features={
        ("3", "6", "9"): Printed(0.79, 0.326, 0.747, 0.013),
        ("2", "4", "8"): Printed(0.70, 0.385, 0.656, 0.016),
        ("0", "1", "2"): Printed(0.69, 0.266, 0.809, 0.005),
        ("2", "3", "4", "5", "6"): Printed(0.59, 0.240, 0.624, 0.017),
        ("6", "7", "8", "9"): Printed(0.57, 0.262, 0.587, 0.017),
        ("0", "1", "2", "3", "4"): Printed(0.42, 0.173, 0.446, 0.009),
        ("2", "4", "6", "8"): Printed(0.41, 0.387, 0.379, 0.017),
        ("1", "3", "5", "7", "9"): Printed(0.40, 0.223, 0.360, 0.017),
        ("4", "5", "6", "7", "8"): Printed(0.34, 0.181, 0.333, 0.017),
        ("7", "8", "9"): Printed(0.26, 0.293, 0.353, 0.016),
    },
    constant=0.075,
    sigma=0.05,
    explained=97.4,
    above=0.25,
    modal=11,
    shares={(11, 11): 0.272, (9, 13): 0.926},
    more_probable=None,
    draws=(100, 5_000, 20_000),
    thin=100,
)
COUNTRIES = Design(
    name="additive-countries",
    table="Table 2",
    features={
        ("Germany", "Italy", "Spain"): Printed(1.00, 0.593, 0.9999, 0.0001),
        ("China", "Indonesia", "Japan", "Philippines", "Vietnam"): Printed(1.00, 0.421, 1.0, 0.0001),
        ("China", "Germany", "Japan", "Russia", "USA"): Printed(0.99, 0.267, 0.9926, 0.0002),
        ("Nigeria", "Zimbabwe"): Printed(0.62, 0.467, 0.694, 0.009),
        ("Cuba", "Iraq", "Jamaica", "Libya", "Nigeria", "Zimbabwe"): Printed(0.52, 0.209, 0.593, 0.010),
        ("Iraq", "Libya"): Printed(0.36, 0.373, 0.420, 0.004),
        ("Iraq", "Libya", "Nigeria", "Zimbabwe"): Printed(0.33, 0.299, 0.258, 0.007),
        ("Indonesia", "Philippines"): Printed(0.25, 0.311, 0.246, 0.002),
    },
    constant=0.035,
    sigma=0.1,
    explained=85.4,
    above=0.15,
    modal=8,
    shares={},
    more_probable=(0.25, 8),
    draws=(100, 4_000, 20_000),
    thin=50,
)
LETTERS = Design(
    name="additive-letters",
    table="Table 3",
    features={
        ("M", "N", "W"): Printed(1.00, 0.686, 1.0, 0.0005),
        ("I", "L", "T"): Printed(0.99, 0.341, 0.9998, 0.0005),
        ("C", "G"): Printed(0.99, 0.623, 1.0, 0.0005),
        ("D", "O", "Q"): Printed(0.99, 0.321, 0.996, 0.002),
        ("P", "R"): Printed(0.99, 0.465, 1.0, 0.0005),
        ("E", "F"): Printed(0.99, 0.653, 1.0, 0.0005),
        ("E", "H"): Printed(0.99, 0.322, 0.997, 0.001),
        ("K", "X"): Printed(0.99, 0.427, 0.991, 0.002),
        ("B", "G", "R"): Printed(0.98, 0.226, 0.999, 0.001),
        ("C", "J", "U"): Printed(0.92, 0.225, 0.963, 0.004),
    },
    constant=0.003,
    sigma=0.05,
    explained=89.2,
    above=0.5,
    modal=np.nan,
    shares={},
    more_probable=(0.9, 10),
    draws=(100, 2_500, 10_000),
    thin=50,
)
LETTERS_CONSTANT = 0.03  # what Table 3 must mean
