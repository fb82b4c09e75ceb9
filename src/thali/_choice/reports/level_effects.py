"""Tables of level effects (preference between levels) and of attribute importance."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.experiments.product_encoding import INSIDE
from thali._inference.index_arithmetic import part_bounds, space_evenly
from thali._inference.numerics.weight_shares import compute_shares, divide_positive
from thali._posterior.posterior_interval import check_interval

from .choice_draws import Chooser, LevelEffects, estimate_interval, point_estimate
from .people_weights import average_over_people, draw_table_weights

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.fitted_design import ExperimentDesign
    from thali._inference.random_seeds import RandomSeed

_AT_BOUND = 0.5005  # an end of an interval below this is printed as .500


def tabulate_level_effects(
    chooser: "Chooser",
    each_person: bool,
    people: Any,
    ci: float,
    cores: int | None,
    random_seed: "RandomSeed",
) -> "pandas.DataFrame":
    """Tabulate the probability that one level is preferred to another, by attribute."""
    from thali._exportable_table import Table

    ci = check_interval(ci)
    pairs = list_level_pairs(chooser.level_cells(), chooser.directions)
    weights = draw_table_weights(chooser, people, random_seed=random_seed)

    def compute_effects() -> LevelEffects:
        """Return the effects among the selected respondents."""
        return chooser.effects(pairs, weights, cores, random_seed)

    if people is None or isinstance(people, str):
        effects = chooser.compute_once(("effects", people, random_seed), compute_effects)
    else:
        effects = compute_effects()
    scheme = chooser.data.scheme
    labels_by_attribute = list(scheme.labels.values())
    row_labels = [
        (scheme.names[i], labels_by_attribute[i][b], labels_by_attribute[i][a]) for i, a, b in pairs
    ]
    if each_person:
        return build_respondent_table(
            chooser, ["attribute", "level", "over"], row_labels, {"effect": effects.by_respondent}
        )
    low, high = estimate_interval(chooser, effects.of_people, ci)
    is_one_sided = np.array([chooser.directions[i] != 0 for i, _, _ in pairs], bool)
    table = Table(row_labels, columns=["attribute", "level", "over"]).assign(
        effect=point_estimate(chooser, effects.by_draw),
        low=low,
        high=high,
        std_error=chooser.errors(effects.by_draw, effects.chain),
        **chooser.respondent_interval(effects.by_respondent[weights.plain > 0], ci),
        at_bound=is_one_sided & (low < _AT_BOUND),
    )
    table.attrs.update(chooser.interval_attrs(ci), whose=weights.whose)
    return table


def build_respondent_table(
    chooser: "Chooser",
    columns: list[str],
    names: list[tuple[Any, ...]],
    columns_by_name: dict[str, np.ndarray],
) -> "pandas.DataFrame":
    """Build a table with a row for each respondent and each name.

    The columns are arrays (respondents, names).
    """
    from thali._exportable_table import Table

    respondents = chooser.data.respondents
    n_names = len(names)
    key_columns = {
        key_name: [label[k] for label in names] * len(respondents)
        for k, key_name in enumerate(columns)
    }
    flat_columns = {
        label: np.broadcast_to(array, (len(respondents), n_names)).ravel()
        for label, array in columns_by_name.items()
    }
    return Table(
        {
            "respondent": np.repeat(np.asarray(respondents, object), n_names),
            **key_columns,
            **flat_columns,
        }
    )


# Pairs of levels that are compared ----------------------------------------------------------------


_MAX_PAIRED = 8  # up to this many levels, all pairs are compared
_MAX_NEIGHBOURS = 30  # up to this many levels, neighbours


def list_level_pairs(
    cells: Sequence[np.ndarray], directions: np.ndarray
) -> list[tuple[int, int, int]]:
    """List pairs of levels to compare: (attribute, level, better or later level).

    All pairs of up to eight levels; neighbours and the two ends of up to thirty; of more, such as
    prices with a slope, the two ends.
    """
    all_pairs = []
    for i, level_cells in enumerate(cells):
        known_levels = np.flatnonzero(~np.isnan(level_cells)).tolist()
        level_pairs = [
            (a, b)
            for level_position, b in enumerate(known_levels)
            for a in known_levels[:level_position]
        ]
        if len(known_levels) > _MAX_PAIRED:
            level_pairs = [(known_levels[0], known_levels[-1])]
            if len(known_levels) <= _MAX_NEIGHBOURS:
                level_pairs += zip(known_levels, known_levels[1:], strict=False)
            level_pairs.sort(key=lambda pair: (pair[1], pair[0]))
        all_pairs += [(i, a, b) for a, b in level_pairs]
    return orient_pairs(all_pairs, directions)


def orient_pairs(
    pairs: Sequence[tuple[int, int, int]], directions: Sequence[int] | np.ndarray
) -> list[tuple[int, int, int]]:
    """Return (attribute, level, other level) with the better level last.

    Pairs of an attribute without a direction are unchanged.
    """
    oriented_pairs = []
    for i, a, b in pairs:
        if directions[i] < 0:
            a, b = b, a
        oriented_pairs.append((i, a, b))
    return oriented_pairs


# The importance of attributes: shares of choices that they decide, and shares of utility ranges ---


MAX_DRAWS = 400
MAX_PERSON_TASKS = 8  # tasks of each respondent from which the share of choices is computed


def tabulate_attribute_importance(
    chooser: "Chooser",
    each_person: bool,
    people: Any,
    ci: float,
    cores: int | None,
    random_seed: "RandomSeed",
) -> "pandas.DataFrame":
    """Tabulate each attribute's share of utility ranges and of decided choices.

    "inside", which has no range, is last.
    """
    from thali._exportable_table import Table

    ci = check_interval(ci)
    decided_shares, decided_errors = chooser.compute_once(
        ("importance", random_seed), lambda: chooser.importance(cores, random_seed)
    )
    thinned_chooser = chooser.thin(MAX_DRAWS)
    range_shares = compute_range_shares(thinned_chooser)
    attributes = list(chooser.data.scheme.names)
    if each_person:
        shares_by_name = {
            "range_share": _average_over_draws(thinned_chooser, range_shares),
            "importance": decided_shares,
        }
        return build_respondent_table(
            chooser, ["attribute"], [(name,) for name in attributes], shares_by_name
        )
    weights = draw_table_weights(thinned_chooser, people, random_seed=random_seed)
    capped_task_counts = np.diff(chooser.data.first_task).clip(max=MAX_PERSON_TASKS)
    mean_range_shares = _average_range_shares(range_shares, weights.plain)
    low, high = estimate_interval(
        thinned_chooser, _average_range_shares(range_shares, weights.drawn), ci
    )
    table = Table(
        {
            "attribute": attributes,
            "range_share": point_estimate(thinned_chooser, mean_range_shares),
            "range_share_low": low,
            "range_share_high": high,
            "range_share_se": np.where(
                np.isnan(low),
                np.nan,
                thinned_chooser.errors(mean_range_shares, thinned_chooser.chain),
            ),
            "importance": compute_shares(weights.plain * capped_task_counts) @ decided_shares,
            "std_error": decided_errors,
            **chooser.respondent_interval(decided_shares[weights.plain > 0], ci),
        }
    )
    table.attrs.update(chooser.interval_attrs(ci), whose=weights.whose)
    return table.sort_values("range_share", ascending=False, kind="stable", ignore_index=True)


def compute_range_shares(chooser: "Chooser") -> np.ndarray:
    r"""Return each attribute's share of utility ranges, (draws, respondents, attributes).

    .. math::

        \frac{r_i}{\sum_k r_k}, \qquad
        r_i = \max_l u(x \text{ with } l) - \min_l u(x \text{ with } l),
        \text{ mean over } x

    NaN for "inside", and for a respondent who is indifferent between all products.
    """
    variants = build_level_variants(chooser)
    n_attributes = len(chooser.data.scheme.names)
    share_blocks = []
    for utility_block in chooser.utilities(variants.products):
        u = variants.reshape_utilities(utility_block)
        ranges = np.full((*utility_block.shape[:2], n_attributes), np.nan)
        for i, level_slice in variants.slices.items():
            ranges[:, :, i] = np.ptp(u[:, :, level_slice], axis=2).mean(axis=2)
        total_range = np.nansum(ranges, axis=2, keepdims=True)
        share_blocks.append(divide_positive(ranges, total_range, np.nan))
    return np.concatenate(share_blocks)


class LevelVariants(NamedTuple):
    """Example products repeated with each level of each attribute in turn."""

    products: np.ndarray  # (levels of all attributes x examples, attributes)
    examples: np.ndarray
    slices: dict[int, slice]  # attribute, except "inside" -> its levels among all levels
    levels: dict[int, np.ndarray]  # attribute -> the codes of these levels

    def reshape_utilities(self, utilities: np.ndarray) -> np.ndarray:
        """Reshape utilities (..., products) to (..., levels, example products)."""
        return utilities.reshape(*utilities.shape[:-1], -1, len(self.examples))


def build_level_variants(chooser: "Chooser") -> LevelVariants:
    """Build example products with each estimated level of each attribute."""
    examples = chooser.sample_products()
    cells_by_attribute = chooser.level_cells()
    product_blocks = []
    slices = {}
    levels_by_attribute = {}
    for i, attribute in enumerate(chooser.data.scheme.names):
        known_levels = np.flatnonzero(~np.isnan(cells_by_attribute[i]))
        if attribute == INSIDE:
            continue
        levels_by_attribute[i] = known_levels
        slices[i] = slice(len(product_blocks), len(product_blocks) + len(levels_by_attribute[i]))
        for level in cells_by_attribute[i][levels_by_attribute[i]]:
            changed_examples = examples.copy()
            changed_examples[:, i] = level
            product_blocks.append(changed_examples)
    return LevelVariants(np.concatenate(product_blocks), examples, slices, levels_by_attribute)


def _average_range_shares(range_shares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return mean range shares of respondents, (draws, attributes)."""
    mean_shares = average_over_people(range_shares, weights)
    # draws in which every respondent is indifferent between all products
    is_empty = np.isnan(mean_shares).all(axis=1)
    if not is_empty.all():
        mean_shares[is_empty] = mean_shares[~is_empty].mean(axis=0)
    return mean_shares


def _average_over_draws(chooser: "Chooser", figures: np.ndarray) -> np.ndarray:
    """Return each respondent's attribute figures averaged over draws."""
    if chooser.is_estimate:
        return figures[0]
    is_present = ~np.isnan(figures)
    sums = np.where(is_present, figures, 0.0).sum(axis=0)
    return divide_positive(sums, is_present.sum(axis=0), np.nan)


def select_products(
    data: "ChoiceExperiment | ExperimentDesign", real_cells: np.ndarray, max_products: int
) -> np.ndarray:
    """Return at most `max_products` encoded products that have every attribute.

    If every product lacks one, products are composed of values of several.
    """
    if data.scheme.has_inside:
        real_cells = real_cells[real_cells[:, 0] != 0]
    complete_products = real_cells[~np.isnan(real_cells).any(axis=1)]
    if len(complete_products):
        return complete_products[space_evenly(len(complete_products), max_products)]
    spread_columns = []
    for attribute_cells in real_cells.T:
        known_cells = attribute_cells[~np.isnan(attribute_cells)]
        value_indices = np.linspace(0, len(known_cells) - 1, max_products).round().astype(np.int64)
        spread_columns.append(known_cells[value_indices])
    return np.stack(spread_columns, axis=1)


def select_tasks(
    data: "ChoiceExperiment | ExperimentDesign", person: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return shown products of some tasks of a respondent, and each task's first row."""
    first_task = data.first_task[person]
    next_person_task = data.first_task[person + 1]
    task_indices = first_task + space_evenly(next_person_task - first_task, MAX_PERSON_TASKS)
    first_rows = data.first_row[task_indices].tolist()
    next_rows = data.first_row[task_indices + 1].tolist()
    row_indices = np.concatenate(
        [np.arange(first, end) for first, end in zip(first_rows, next_rows, strict=True)]
    )
    return data.row_product[row_indices], part_bounds(np.subtract(next_rows, first_rows))


def compute_choice_change(decisions: np.ndarray, first_row: np.ndarray) -> np.ndarray:
    """Return the share of choices that change without each attribute, mean over tasks.

    Compares the choices (..., with all or without one attribute, row) to the first.
    """
    absolute_changes = np.abs(decisions[..., 1:, :] - decisions[..., :1, :]).sum(axis=-1)
    return 0.5 * absolute_changes / (len(first_row) - 1)
