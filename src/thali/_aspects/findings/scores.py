"""Scores of options from 0 to 100, of all people, by group and by segment."""

from typing import TYPE_CHECKING, Any

from thali._digits import number
from thali._labels import listed
from thali._model.finding import ON_SCREEN, Brief, Finding, Picture, finding
from thali._model.settings import AnswerSettings
from thali._model.wording import phrase

from .english import ENGLISH
from .groups import MAX_GROUPS, MAX_RANKED

if TYPE_CHECKING:
    import pandas

_NAMED = 3


@finding("option_scores", "Preference scores", ON_SCREEN)
def option_scores(model: Any, settings: AnswerSettings) -> Finding | None:
    """The scores of the options, of all people or by group, where the best and the worst were named."""
    if model._view.best_worst is None and settings.none is None:
        return None
    table = model.scores(random_seed=settings.random_seed, none=settings.none, ci=settings.ci)
    return scores_finding(table, "option_scores.title", "option_scores")


def scores_finding(table: "pandas.DataFrame", title: str, key: str) -> Finding:
    """Scores of options in a sentence, a table and a picture; `title`: its phrase; `key`: the name of its file."""
    is_of_all, of = table.index.nlevels == 1, table.index.names[0]
    names = [""] if is_of_all else list(dict.fromkeys(table.index.get_level_values(0)))
    rows_of: dict[Any, Any] = {name: table if is_of_all else table.loc[name] for name in names}
    named = []
    for name in names[:MAX_GROUPS]:
        best = rows_of[name]["score"].sort_values(ascending=False, kind="stable").head(_NAMED)
        each = listed([f"{option} ({number(float(score))})" for option, score in best.items()])
        named.append(each if is_of_all else f"{each} in {of} {name!r}")
    none = table.attrs.get("none")
    average = number(100.0 / len(rows_of[names[0]])) if none is None else none
    how = "option_scores" if none is None else "option_scores.none"
    sentence = phrase(ENGLISH, how, named="; ".join(named), average=average)
    size = number(table.attrs["set_size"] - 1.0)
    picture = Picture("scores", ENGLISH["option_scores.caption"], (table,), file=key)
    fits = len(names) <= MAX_GROUPS and len(table) <= MAX_GROUPS * MAX_RANKED
    notes = (phrase(ENGLISH, "option_scores.by" if none is None else "option_scores.none.by", others=size, none=none),)
    scale = phrase(ENGLISH, "option_scores.sum" if none is None else "option_scores.anchor", none=none)
    named_scale = str(phrase(ENGLISH, title, scale=scale))
    shown = table.sort_values("score", ascending=False, kind="stable") if is_of_all else None
    told = phrase(ENGLISH, f"{how}.brief", scale=named_scale, average=average)
    brief = Brief("Scores", told, table=shown if is_of_all else table)
    drawn = picture if fits else None
    return Finding(sentence, title=named_scale, table=table, shown=shown, picture=drawn, notes=notes, brief=brief)
