"""Tables of level utilities, centred or as zero-centred differences, overall or by respondent."""

from typing import TYPE_CHECKING

import numpy as np

from thali._data.experiments.product_encoding import INSIDE, INSIDE_LEVELS
from thali._inference.numerics.weight_shares import divide_positive
from thali._posterior.posterior_interval import check_interval

from .chooser import Chooser, estimate_interval, point_estimate
from .effects import MAX_DRAWS, LevelVariants, build_level_variants
from .simulator import build_no_choice_product

if TYPE_CHECKING:
    import pandas

MEAN_RANGE = 100.0  # mean range of the attributes in zero-centred differences
NO_CHOICE_LEVEL = (INSIDE, INSIDE_LEVELS[0])  # attribute and level of the no-choice option
_ROUNDING = 1e-12  # largest rounding error of a difference of utilities


def tabulate_utilities(chooser: Chooser, ci: float) -> "pandas.DataFrame":
    """Tabulate the mean utility of each level over respondents."""
    from thali._exportable_table import Table

    ci = check_interval(ci)
    labels, by_respondent, scaled = _level_utilities(chooser)
    fewer = chooser.thin(MAX_DRAWS)
    _, by_draw = utility_draws(fewer)
    low, high = estimate_interval(fewer, by_draw, ci)
    table = Table(labels, columns=["attribute", "level"]).assign(
        utility=point_estimate(fewer, by_draw),
        low=low,
        high=high,
        std_error=fewer.errors(by_draw, fewer.chain),
        zero_centred=scaled.mean(axis=0),
    )
    if chooser.has_individuals:
        table["utility"] = by_respondent.mean(axis=0)
        table.insert(table.columns.size - 1, "respondents_sd", by_respondent.std(axis=0))
        table["zero_centred_sd"] = scaled.std(axis=0)
    table.attrs.update(chooser.interval_attrs(ci))
    return table


def tabulate_respondent_utilities(chooser: Chooser, zero_centred: bool) -> "pandas.DataFrame":
    """Tabulate the utility of each level for each respondent, (respondents, levels)."""
    from thali._exportable_table import Table

    labels, by_respondent, scaled = _level_utilities(chooser)
    if zero_centred:
        by_respondent = scaled
    respondents = chooser.data.respondents
    utilities = np.broadcast_to(by_respondent, (len(respondents), len(labels)))
    columns = [f"{attribute}: {level}" for attribute, level in labels]
    return Table(utilities.copy(), respondents, columns).rename_axis("respondent")


def _level_utilities(
    chooser: Chooser,
) -> tuple[list[tuple[str, str]], np.ndarray, np.ndarray]:
    """Return level labels, centred utilities and zero-centred ones by respondent."""
    # One row if all respondents have the same tastes.
    variants = build_level_variants(chooser)
    labels, products = _list_compared_products(chooser, variants)
    by_respondent = _centre_utilities(chooser.expected_utilities(products), variants)
    factors = _zero_centring_factors(by_respondent, variants)
    return labels, by_respondent, by_respondent * factors[:, None]


def utility_draws(chooser: Chooser) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Return labels and centred mean utilities of levels, (draws, levels)."""
    variants = build_level_variants(chooser)
    labels, products = _list_compared_products(chooser, variants)
    blocks = [
        _centre_utilities(block, variants).mean(axis=1) for block in chooser.utilities(products)
    ]
    return labels, np.concatenate(blocks)


def _list_compared_products(
    chooser: Chooser, variants: LevelVariants
) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Return labels of all reported utilities, and the products to evaluate."""
    # The products are the variants, the sample products, and the no-choice option if there is one.
    scheme = chooser.data.scheme
    labels = [
        (scheme.names[i], scheme.levels[scheme.names[i]][level])
        for i, levels in variants.levels.items()
        for level in levels
    ]
    products = [variants.products, variants.examples]
    no_choice = build_no_choice_product(chooser.data)
    if no_choice is not None:
        labels.append(NO_CHOICE_LEVEL)
        products.append(np.array([no_choice], float))
    return labels, np.concatenate(products)


# v_il = u(x with l) - 1/L Σ_m u(x with m), means over the sample products x; for the no-choice
# option, its utility minus that of a product with the average level of each attribute.
def _centre_utilities(utilities: np.ndarray, variants: LevelVariants) -> np.ndarray:
    """Return utilities of levels centred within each attribute, (..., levels)."""
    # `utilities` contains the level variants, the sample products, and the no-choice option.
    count, examples = len(variants.products), len(variants.examples)
    centred = variants.reshape_utilities(utilities[..., :count]).mean(axis=-1)
    typical = utilities[..., count : count + examples].mean(axis=-1)
    average = typical.copy()
    for levels in variants.slices.values():
        mean = centred[..., levels].mean(axis=-1)
        average += mean - typical
        centred[..., levels] -= mean[..., None]
    centred[np.abs(centred) < _ROUNDING] = 0.0
    return np.concatenate(
        [centred, utilities[..., count + examples :] - average[..., None]], axis=-1
    )


def _zero_centring_factors(by_respondent: np.ndarray, variants: LevelVariants) -> np.ndarray:
    """Return each respondent's factor that makes the mean utility range standard."""
    # 0 for an indifferent respondent.
    total = sum(np.ptp(by_respondent[:, levels], axis=1) for levels in variants.slices.values())
    total_range = MEAN_RANGE * len(variants.slices)
    return divide_positive(total_range, total)
