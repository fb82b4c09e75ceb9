"""Checks of a conjoint design: balance, restrictions, order of profiles and tasks, sides."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._labels import list_names
from thali._number_format import format_p_value, format_percent

from .design import AttributePair, EffectDesign, count_level_pairs
from .linear_fit import WaldTest
from .profiles import Profiles

if TYPE_CHECKING:
    import pandas as pd

_SUSPICIOUS = 0.01  # p-value below which a check is reported as failed
_MIN_TASKS = 3  # tasks from which a respondent can always choose one side


class _Check(NamedTuple):
    """One check of the design: its name, result in words and p-value."""

    check: str
    result: str
    p_value: float = float("nan")


def check_design(design: EffectDesign) -> "pd.DataFrame":
    """Return a table with one row per check: `result` (a sentence) and `p_value`."""
    import pandas as pd

    profiles = design.profiles
    checks = [_check_balance(design), _check_restrictions(design)]
    if profiles.position.max() > 0:
        checks.append(_check_order(design))
    if profiles.task_number.max() > 1:
        checks.append(_check_task_number(design))
    if (sides := _check_sides(profiles)) is not None:
        checks.append(sides)
    return pd.DataFrame(checks).set_index("check")


def _check_balance(design: EffectDesign) -> _Check:
    """Check whether the levels of independent attributes were shown equally often."""
    from scipy.special import chdtrc

    profiles = design.profiles
    p_values = []
    departures = []
    linked = {k for pair in design.linked_pairs for k in pair}
    for k, (name, labels) in enumerate(profiles.levels.items()):
        counts = np.bincount(profiles.codes[:, k], minlength=len(labels))[: len(labels)]
        if k in linked or len(labels) < 2:
            continue
        expected = counts.sum() / len(labels)
        p_values.append(chdtrc(len(labels) - 1, np.square(counts - expected).sum() / expected))
        shares = counts / counts.sum()
        low = int(shares.argmin())
        high = int(shares.argmax())
        departures.append(
            f"{name} ({labels[low]}: {format_percent(shares[low])}; {labels[high]}:"
            f" {format_percent(shares[high])})"
        )
    if not p_values:
        return _Check("balance", "Not checked: all attributes are restricted.")
    adjusted = np.minimum(np.array(p_values) * len(p_values), 1.0)
    uneven = [text for text, p in zip(departures, adjusted, strict=True) if p < _SUSPICIOUS]
    p_value = float(adjusted.min())
    text = f"No sign of levels shown unequally often (smallest adjusted {format_p_value(p_value)})."
    if uneven:
        text = f"Levels not shown equally often: {list_names(uneven, 3)}."
    return _Check("balance", text, p_value)


def _check_restrictions(design: EffectDesign) -> _Check:
    """Name the levels that never meet, and the attributes that are not independent."""
    if not design.linked_pairs:
        return _Check("restrictions", "No restrictions: all levels are combined independently.")
    texts = [_describe_pair(design.profiles, pair) for pair in design.linked_pairs]
    return _Check("restrictions", f"{list_names(texts, 3)}; interactions included.")


def _describe_pair(profiles: Profiles, pair: AttributePair) -> str:
    """Describe which levels of two attributes never meet."""
    (first, first_labels), (second, second_labels) = (
        list(profiles.levels.items())[k] for k in pair
    )
    counts = count_level_pairs(profiles, pair)
    never_texts = [
        f"{first_labels[i]} + {second_labels[j]}" for i, j in np.argwhere(counts == 0).tolist()
    ]
    if not never_texts:
        return f"{first} and {second} are not independent"
    return f"{first} and {second} never occur together as {list_names(never_texts, 3)}"


def _compare_parts(design: EffectDesign, is_later: np.ndarray) -> WaldTest:
    """Test whether the effects are the same in two parts of the profiles."""
    fit = design.fit(np.stack([~is_later, is_later], axis=1).astype(float))
    return fit.test(np.kron([[-1.0], [1.0]], design.contrasts))


def _describe_test(test: WaldTest) -> str:
    """Return whether effects are the same in two parts of the profiles, with the p-value."""
    if np.isnan(test.p_value):
        return "differences in attribute effects not tested (too few respondents)"
    verdict = "no significant difference in attribute effects at the 1 % level"
    if test.p_value < _SUSPICIOUS:
        verdict = "attribute effects differ"
    return f"{verdict} ({format_p_value(test.p_value)})"


def _check_order(design: EffectDesign) -> _Check:
    """Check the mean outcome of the first profile, and effects by position."""
    profiles = design.profiles
    is_first = profiles.position == 0
    mean = np.average(profiles.outcome[is_first], weights=profiles.weights[is_first])
    test = _compare_parts(design, ~is_first)
    text = f"Mean outcome of the first profile: {mean:.3g}"
    if profiles.is_choice:
        text = f"First profile chosen in {format_percent(mean)} of tasks"
    return _Check(
        "profile_order",
        f"{text}. First versus other profiles: {_describe_test(test)}.",
        test.p_value,
    )


def _check_task_number(design: EffectDesign) -> _Check:
    """Check whether effects are the same in the first and the second half of the tasks."""
    numbers = design.profiles.task_number
    test = _compare_parts(design, 2 * numbers > numbers.max() + 1)
    return _Check("task_order", f"Early versus late tasks: {_describe_test(test)}.", test.p_value)


def _check_sides(profiles: Profiles) -> _Check | None:
    """Count respondents who always chose the same position; None unless tasks are choices."""
    if not profiles.is_choice or profiles.position.max() != 1:
        return None
    chosen = profiles.select_rows(profiles.outcome == 1.0)
    n_tasks = np.bincount(chosen.respondent, minlength=profiles.n_respondents)
    n_second = np.bincount(chosen.respondent, chosen.position, profiles.n_respondents)
    has_many = n_tasks >= _MIN_TASKS
    if not has_many.any():
        return None
    is_one_sided = ((n_second == 0) | (n_second == n_tasks))[has_many]
    by_chance = float(np.mean(2.0 * 0.5 ** n_tasks[has_many]))
    return _Check(
        "one_side",
        f"{format_percent(is_one_sided.mean(), 1)} always chose the same side"
        f" ({format_percent(by_chance, 1)} expected by chance).",
    )
