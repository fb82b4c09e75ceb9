"""Tables of level utilities, centred or as zero-centred differences, overall or by respondent."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.experiments.product_encoding import INSIDE, INSIDE_LEVELS
from thali._inference.numerics.weight_shares import divide_positive
from thali._posterior.posterior_interval import check_interval

from .choice_draws import Chooser, estimate_interval, point_estimate
from .level_effects import MAX_DRAWS, LevelVariants, build_level_variants
from .market_simulator import build_no_choice_product
from .people_weights import average_over_people, draw_table_weights

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed

MEAN_RANGE = 100.0  # mean range of the attributes in zero-centred differences
NO_CHOICE_LEVEL = (INSIDE, INSIDE_LEVELS[0])  # attribute and level of the no-choice option
_ROUNDING = 1e-12  # largest rounding error of a difference of utilities


def tabulate_utilities(
    chooser: Chooser, people: Any, ci: float, random_seed: "RandomSeed"
) -> "pandas.DataFrame":
    """Tabulate the mean utility of each level over respondents."""
    from thali._exportable_table import Table

    ci = check_interval(ci)
    level_labels, by_respondent, scaled_utilities = _compute_level_utilities(chooser)
    thinned_chooser = chooser.thin(MAX_DRAWS)
    weights = draw_table_weights(thinned_chooser, people, random_seed=random_seed)
    _, (utility_by_draw, of_people) = compute_utility_draws(
        thinned_chooser, weights.plain, weights.drawn
    )
    low, high = estimate_interval(thinned_chooser, of_people, ci)
    if chooser.has_individuals:
        is_member = weights.plain > 0
        by_respondent = by_respondent[is_member]
        scaled_utilities = scaled_utilities[is_member]
    table = Table(level_labels, columns=["attribute", "level"]).assign(
        utility=point_estimate(thinned_chooser, utility_by_draw),
        low=low,
        high=high,
        std_error=thinned_chooser.errors(utility_by_draw, thinned_chooser.chain),
        zero_centred=scaled_utilities.mean(axis=0),
    )
    if chooser.has_individuals:
        table["utility"] = by_respondent.mean(axis=0)
        table.insert(table.columns.size - 1, "respondents_sd", by_respondent.std(axis=0))
        table["zero_centred_sd"] = scaled_utilities.std(axis=0)
    table.attrs.update(chooser.interval_attrs(ci), whose=weights.whose)
    return table


def tabulate_respondent_utilities(chooser: Chooser, zero_centred: bool) -> "pandas.DataFrame":
    """Tabulate the utility of each level for each respondent, (respondents, levels)."""
    from thali._exportable_table import Table

    level_labels, by_respondent, scaled_utilities = _compute_level_utilities(chooser)
    if zero_centred:
        by_respondent = scaled_utilities
    respondents = chooser.data.respondents
    utilities = np.broadcast_to(by_respondent, (len(respondents), len(level_labels)))
    column_names = [f"{attribute}: {level}" for attribute, level in level_labels]
    return Table(utilities.copy(), respondents, column_names).rename_axis("respondent")


def _compute_level_utilities(
    chooser: Chooser,
) -> tuple[list[tuple[str, str]], np.ndarray, np.ndarray]:
    """Return level labels, centred utilities and zero-centred ones by respondent."""
    # One row if all respondents have the same tastes.
    variants = build_level_variants(chooser)
    level_labels, products = _list_compared_products(chooser, variants)
    by_respondent = _centre_utilities(chooser.expected_utilities(products), variants)
    # the mean range becomes `MEAN_RANGE`; the factor of an indifferent respondent is 0
    range_sums = sum(
        np.ptp(by_respondent[:, levels], axis=1) for levels in variants.slices.values()
    )
    total_range = MEAN_RANGE * len(variants.slices)
    scale_factors = divide_positive(total_range, range_sums)
    return level_labels, by_respondent, by_respondent * scale_factors[:, None]


def compute_utility_draws(
    chooser: Chooser, *weightings: np.ndarray
) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Return labels, and centred mean utilities of levels, (weightings, draws, levels).

    Each weighting of the respondents is (respondents,) or (draws, respondents).
    """
    variants = build_level_variants(chooser)
    level_labels, products = _list_compared_products(chooser, variants)
    means = np.empty((len(weightings), len(chooser.chain), len(level_labels)))
    next_draw = 0
    for utility_block in chooser.utilities(products):
        draw_slice = slice(next_draw, next_draw + len(utility_block))
        centred_utilities = _centre_utilities(utility_block, variants)
        for weighting_means, weights in zip(means, weightings, strict=True):
            if weights.ndim == 2:
                weights = weights[draw_slice]
            weighting_means[draw_slice] = average_over_people(centred_utilities, weights)
        next_draw = draw_slice.stop
    return level_labels, means


def _list_compared_products(
    chooser: Chooser, variants: LevelVariants
) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Return labels of all reported utilities, and the products to evaluate."""
    # The products are the variants, the sample products, and the no-choice option if there is one.
    scheme = chooser.data.scheme
    level_labels = [
        (scheme.names[i], scheme.levels[scheme.names[i]][level])
        for i, level_indices in variants.levels.items()
        for level in level_indices
    ]
    product_blocks = [variants.products, variants.examples]
    no_choice = build_no_choice_product(chooser.data)
    if no_choice is not None:
        level_labels.append(NO_CHOICE_LEVEL)
        product_blocks.append(np.array([no_choice], float))
    return level_labels, np.concatenate(product_blocks)


# v_il = u(x with l) - 1/L Σ_m u(x with m), means over the sample products x; for the no-choice
# option, its utility minus that of a product with the average level of each attribute.
def _centre_utilities(utilities: np.ndarray, variants: LevelVariants) -> np.ndarray:
    """Return utilities of levels, centred by attribute, and of no choice, shifted to match."""
    # `utilities` contains the level variants, the sample products, and the no-choice option.
    n_variants = len(variants.products)
    n_examples = len(variants.examples)
    level_utilities = variants.reshape_utilities(utilities[..., :n_variants]).mean(axis=-1)
    example_utility = utilities[..., n_variants : n_variants + n_examples].mean(axis=-1)
    mean_utility = example_utility.copy()
    for level_slice in variants.slices.values():
        attribute_mean = level_utilities[..., level_slice].mean(axis=-1)
        mean_utility += attribute_mean - example_utility
        level_utilities[..., level_slice] -= attribute_mean[..., None]
    level_utilities[np.abs(level_utilities) < _ROUNDING] = 0.0
    return np.concatenate(
        [level_utilities, utilities[..., n_variants + n_examples :] - mean_utility[..., None]],
        axis=-1,
    )
