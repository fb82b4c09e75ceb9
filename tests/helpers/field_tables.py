"""All small tables of the field, and what data contain."""

from typing import Any

import pandas as pd

import thali as th
from helpers import field_answers, field_studies

TABLES = field_studies.TABLES | field_answers.TABLES


def count_answers(data: Any) -> float:
    if isinstance(data, th.ChoiceExperiment):
        return data.n_tasks
    if isinstance(data, th.PairedComparisons):
        return data.n_comparisons
    if isinstance(data, th.Choices):
        return data.n_choices if data.worst is None else data.n_answers
    if isinstance(data, th.Triplets):
        return data.n_answers
    return int(data.judgements.sum())


def count_chosen(data: Any, name: str) -> float:
    """The sum of an attribute of the chosen, the times an option was chosen, or a similarity."""
    frame = data.to_frame()
    if isinstance(data, th.ChoiceExperiment):
        is_chosen = frame[data.scheme.chosen].astype(int) == 1
        return float(pd.to_numeric(frame.loc[is_chosen, name], errors="coerce").sum())
    if isinstance(data, th.PairedComparisons):
        place = data.labels.index(name)
        won = data.wins[data.first == place].sum() + data.losses[data.second == place].sum()
        return float(won)
    if isinstance(data, th.Choices):
        chosen = data.members[data.choice] == data.labels.index(name)
        return float(data.times[chosen].sum())
    pair = {data.labels.index(label) for label in name.split(" ~ ")}
    values = data.counts if isinstance(data, th.Triplets) else data.values
    pairs = zip(data.first, data.second, values, strict=True)
    return float(sum(value for i, j, value in pairs if {i, j} == pair))
