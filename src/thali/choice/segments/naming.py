"""Names for segments, by what distinguishes them from everybody."""

from collections.abc import Sequence

import numpy as np

from thali.data.experiments.scheme import INSIDE, INSIDE_LEVELS

_WORTH_NAMING = 0.05  # of a preference, by which a segment differs from everybody
_WORDS = {(INSIDE, INSIDE_LEVELS[0]): "no choice", (INSIDE, INSIDE_LEVELS[1]): "any product"}
_FEW, _MOST = 2, 3  # attributes in a name


def names_of(levels: Sequence[tuple[str, str]], profiles: np.ndarray, everybody: np.ndarray) -> list[str]:
    """One name a segment, by profiles (K, F): the attributes in which it differs most from everybody.

    Two are named, three where two segments have the same name otherwise.
    """
    phrases = [_phrases(levels, own, everybody) for own in profiles]
    for number in (_FEW, _MOST):
        names = [", ".join(own[:number]) or "like everybody" for own in phrases]
        if len(set(names)) == len(names):
            break
    return names


def _phrases(levels: Sequence[tuple[str, str]], own: np.ndarray, everybody: np.ndarray) -> list[str]:
    """What is said of each attribute, the most distinctive first: the level liked more than others like it, if any."""
    liked, indifferent = [], []
    for attribute in dict.fromkeys(attribute for attribute, _ in levels):
        places = np.array([place for place, (name, _) in enumerate(levels) if name == attribute])
        beyond = own[places] - everybody[places]
        wanted = np.where(own[places] >= 0.5 + _WORTH_NAMING, beyond, 0.0)
        best = int(wanted.argmax())
        if wanted[best] >= _WORTH_NAMING:
            level = levels[places[best]]
            liked.append((float(wanted[best]), _WORDS.get(level, " ".join(level))))
        elif (less := float(np.ptp(everybody[places]) - np.ptp(own[places]))) >= 2 * _WORTH_NAMING:
            indifferent.append((less / 2, f"{attribute} matters less"))
    return [phrase for part in (liked, indifferent) for _, phrase in sorted(part, key=lambda each: -each[0])]
