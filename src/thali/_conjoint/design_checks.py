"""Checks of a conjoint design: balance, restrictions, order of profiles and tasks, sides."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._labels import format_plural, list_names, shorten
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
    p_values, departures = [], []
    linked = {k for pair in design.linked_pairs for k in pair}
    for k, (name, labels) in enumerate(profiles.levels.items()):
        counts = np.bincount(profiles.codes[:, k], minlength=len(labels))[: len(labels)]
        if k in linked or len(labels) < 2:
            continue
        expected = counts.sum() / len(labels)
        p_values.append(chdtrc(len(labels) - 1, np.square(counts - expected).sum() / expected))
        shares = counts / counts.sum()
        low, high = int(shares.argmin()), int(shares.argmax())
        departures.append(
            f"{name} ({labels[low]} {format_percent(shares[low])}, {labels[high]}"
            f" {format_percent(shares[high])})"
        )
    if not p_values:
        return _Check("balance", "Not checked: all attributes are restricted.")
    adjusted = np.minimum(np.array(p_values) * len(p_values), 1.0)
    uneven = [text for text, p in zip(departures, adjusted, strict=True) if p < _SUSPICIOUS]
    p_value = float(adjusted.min())
    if uneven:
        return _Check("balance", f"Levels not shown equally often: {shorten(uneven, 3)}.", p_value)
    return _Check(
        "balance",
        f"Levels shown equally often in {format_plural(len(p_values), 'attribute')}"
        f" (smallest {format_p_value(p_value)}, Bonferroni).",
        p_value,
    )


def _check_restrictions(design: EffectDesign) -> _Check:
    """Name the levels that never meet, and the attributes that are not independent."""
    if not design.linked_pairs:
        return _Check("restrictions", "All levels of all attributes meet.")
    texts = [_describe_pair(design.profiles, pair) for pair in design.linked_pairs]
    return _Check(
        "restrictions", f"{'; '.join(texts)}. The regression includes these interactions."
    )


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
    return f"Levels of {first} and {second} that never meet: {list_names(never_texts, 4)}"


def _test_trend(design: EffectDesign, modifier: np.ndarray) -> WaldTest:
    """Test whether the effects change linearly with a number of each profile."""
    centred = modifier - np.average(modifier, weights=design.profiles.weights)
    fit = design.fit(np.stack([np.ones(len(centred)), centred], axis=1))
    return fit.test(np.kron([[0.0], [1.0]], design.build_contrasts()))


def _describe_test(test: WaldTest, what: str) -> str:
    """Return whether effects depend on something, with the p-value."""
    if np.isnan(test.p_value):
        return f"too few respondents to test whether effects depend on {what}"
    verb = "do not depend"
    if test.p_value < _SUSPICIOUS:
        verb = "depend"
    return f"effects {verb} on {what} ({format_p_value(test.p_value)})"


def _check_order(design: EffectDesign) -> _Check:
    """Check the mean outcome of the first profile, and effects by position."""
    profiles = design.profiles
    first = profiles.position == 0
    mean = np.average(profiles.outcome[first], weights=profiles.weights[first])
    text = f"mean outcome of the first profile {mean:.3g}"
    if np.isin(profiles.outcome, (0, 1)).all():
        text = f"the first profile is chosen in {format_percent(mean)} of the tasks"
    test = _test_trend(design, profiles.position.astype(float))
    sentence = f"{text}; {_describe_test(test, 'the position')}."
    return _Check("profile order", sentence[0].upper() + sentence[1:], test.p_value)


def _check_task_number(design: EffectDesign) -> _Check:
    """Check whether effects change with the number of the task."""
    profiles = design.profiles
    test = _test_trend(design, profiles.task_number.astype(float))
    sentence = f"{_describe_test(test, 'the number of the task')}."
    return _Check("task number", sentence[0].upper() + sentence[1:], test.p_value)


def _check_sides(profiles: Profiles) -> _Check | None:
    """Count respondents who always chose the same position; None unless tasks are choices."""
    is_chosen = profiles.outcome == 1
    n_tasks = np.bincount(profiles.respondent[is_chosen], minlength=profiles.n_respondents)
    if profiles.position.max() != 1 or is_chosen.sum() != profiles.task[-1] + 1:
        return None
    n_second = np.bincount(
        profiles.respondent[is_chosen],
        weights=profiles.position[is_chosen],
        minlength=profiles.n_respondents,
    )
    n_tasks_of_many = n_tasks[n_tasks >= _MIN_TASKS]
    if not len(n_tasks_of_many):
        return None
    is_one_sided = ((n_second == 0) | (n_second == n_tasks))[n_tasks >= _MIN_TASKS]
    by_chance = float((2.0 * 0.5**n_tasks_of_many).mean())
    return _Check(
        "one side",
        f"{format_percent(is_one_sided.mean(), 1)} of the respondents always chose the same side"
        f" ({format_percent(by_chance, 1)} would by chance).",
    )
