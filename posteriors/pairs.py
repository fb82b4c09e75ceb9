"""The reference posteriors: pairs of a data set and a model, each with the length of its run."""

from typing import Any, NamedTuple

CHAINS = {"chains": 10, "draws": 1000, "tune": 1000, "random_seed": 1}
LONGER = CHAINS | {"draws": 2000, "tune": 2000}  # chains that change slowly
LONG = CHAINS | {"draws": 4000}
LONGEST = CHAINS | {"draws": 12000, "tune": 2000}


class Pair(NamedTuple):
    """A data set, a model, and the arguments of the fit."""

    data: str
    model: str
    run: dict[str, Any]

    @property
    def name(self) -> str:
        """As in posteriordb: data set, hyphen, model."""
        return f"{self.data}-{self.model}"


PAIRS = {
    pair.name: pair
    for pair in (
        Pair("celebrities", "bradley_terry", CHAINS),
        Pair("celebrities", "bradley_terry_luce", CHAINS),
        Pair("celebrities", "given_aspects", CHAINS),
        Pair("celebrities", "finite_aspects", LONGER),
        Pair("celebrities", "buffet", LONGER),
        Pair("celebrities", "tree_buffet", LONGER),
        Pair("paris_rome", "bradley_terry", CHAINS),
        Pair("paris_rome", "buffet", CHAINS),
        Pair("two_options", "buffet_alpha_2", CHAINS),
        Pair("blocks", "bradley_terry", CHAINS),
        Pair("blocks", "buffet", CHAINS),
        Pair("blocks", "tree_buffet", CHAINS),
        Pair("games", "bradley_terry_ties", CHAINS),
        Pair("games", "bradley_terry_luce", CHAINS),
        Pair("games", "buffet_ties", CHAINS),
        Pair("two_judges", "luce_judges", LONGER),
        Pair("judges", "luce_judges", LONG),
        Pair("three_seasons", "luce_in_time", LONGER),
        Pair("seasons", "luce_in_time", LONG),
        Pair("trials", "buffet_covariates", CHAINS),
        Pair("sets", "buffet_sets", CHAINS),
        Pair("numbers", "additive_buffet", LONGER),
        Pair("numbers", "additive_finite", LONGER),
        Pair("numbers", "additive_given_sigma", CHAINS),
        Pair("numbers", "additive_buffet_sigma", CHAINS),
        Pair("objects", "additive_buffet", CHAINS),
        Pair("odd_ones", "triplets_buffet", CHAINS),
        Pair("odd_ones", "triplets_buffet_ratio", CHAINS),
        Pair("words", "noisy_or", LONGEST),
        Pair("messages", "poisson_network", CHAINS),
        Pair("three_classes", "plackett_luce_regression", LONGER),
        Pair("three_classes", "plackett_luce_regression_a_1", LONGER),
        Pair("three_classes", "sparse_logit", CHAINS),
        Pair("products", "hierarchical_logit", LONGEST),
        Pair("products", "product_classes", LONG | {"tune": 250}),
    )
}
