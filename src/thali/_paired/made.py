"""What a report says of a leaderboard besides its answers: the data, how it was made, whether its intervals hold."""

import inspect
from typing import Any

from thali._data.choices import Choices
from thali._model.common_findings import SENTENCES as COMMON
from thali._model.common_findings import brief_of_chains, judged
from thali._model.data_facts import Facts, facts_of
from thali._model.finding import (
    DATA,
    METHODS,
    ON_SCREEN,
    PAGE,
    SCREEN,
    SHOWN,
    STATISTICS,
    Brief,
    Finding,
    Text,
    finding,
)
from thali._model.references import Cite
from thali._model.versions import program
from thali._model.wording import listed, phrase
from thali._posterior.dependence import SCORES
from thali._posterior.interval import interval_name

from .board import Leaderboard
from .counted import Judgements, judgements_of

_NAMED = 12  # covariates, or columns, of a sentence
_TIES = {"half": "A tie counted as half a win of either option.", "drop": "Ties were left out."}
_SENTENCES = {
    "data": "The leaderboard is of {data}.",
    "laplace": "Draws are those of Laplace's approximation of the posterior.",
    "mcmc": "Draws of the posterior are those of Markov chains.",
    "maximum-likelihood": "Worths were estimated by maximum likelihood; standard errors {errors}, and ranks those of"
    " draws from the normal distribution about the estimate.",
    "people": "are over respondents {source}",
    "rankings": "Out of a set an option was chosen with a probability proportional to its worth; a ranking is such"
    " choices, one after another {source}.",
    "judges": "The log odds of a judge's choice were d times those of worths, with log d Normal(0, tau²) and {spread}.",
    "bias": "Each judge had coefficients of covariates of their own, which varied about the common ones as"
    " Normal(0, v²), with a HalfNormal(0.5) prior on v.",
    "period": "The log worth of an option changed from one period ({period}) to the next as Normal(0, s²), with"
    " {spread}.",
    "known": "{name} = {value:g}",
    "learned": "a HalfNormal(0.5) prior on {name}",
    "dates": "Only comparisons {dates} counted.",
    "pool": "The worths of the boards of parts were common ones times Gamma(1/s², 1/s²) variables, with {spread}.",
    "parts differ": "The chains of boards of parts do not agree yet: {parts}.",
    "intervals": "Intervals are central {interval}s; two options are told apart if their order has a probability of"
    " 0.95 or more.",
}


def in_words(board: Leaderboard) -> str:
    """What the leaderboard is of, as a line below a heading."""
    return f"Leaderboard of {board.data}"


@finding("data", "What are the data?", SHOWN, chapter=DATA)
def data(board: Leaderboard, settings: None) -> Finding:
    """What was counted, of which files, and how these were read."""
    import pandas as pd

    counted = None if board.made is None else board.made.counted
    read_as = () if counted is None or not counted.read_as else (f"Read as {counted.read_as}.",)
    files = () if counted is None or not counted.files else (("Files", listed(counted.files, _NAMED)),)
    parts = (("Parts", listed(board.boards, _NAMED)),) if board.boards else ()
    table = pd.DataFrame([*files, *facts_of(board.data), *parts], columns=["fact", "value"]).set_index("fact")
    return Finding(phrase(_SENTENCES, "data", data=board.data), title=COMMON["facts"], table=table, notes=read_as)


@finding("methods", "How is it said in a paper?", SHOWN, chapter=METHODS)
def methods(board: Leaderboard, settings: None) -> Finding | None:
    """The paragraph of a paper; nothing of a board that does not know how it was made, such as that of a part."""
    if board.made is None:
        return None
    chosen = board.made.settings
    is_estimate = chosen["method"] == "maximum-likelihood"
    return Finding(
        notes=(
            *_rule(board, chosen, is_estimate),
            *_varying(board.data, chosen),
            *_people(board, chosen["method"]),
            *(() if board.of_chains is None else judged(board.of_chains.facts)),
            phrase(COMMON, "computed", program=program()),
            phrase(_SENTENCES, "intervals", interval=interval_name()),
        )
    )


def _rule(board: Leaderboard, chosen: dict[str, Any], is_estimate: bool) -> tuple[Text, ...]:
    """How choices depend on worths and covariates."""
    from thali._aspects.findings.elimination import best_worst_sentence, ties_sentence
    from thali._aspects.findings.english import ENGLISH
    from thali._aspects.likelihoods.best_worst import RANKING

    assert board.made is not None
    source, ml = Cite("bradley1952", "luce1959", inside=True), "ml." * is_estimate
    sentences: list[Text] = [phrase(ENGLISH, f"{ml}methods.luce", source=source)]
    before: Judgements = judgements_of(board.made.counted.data)
    if isinstance(board.data, Choices):
        sentences.append(phrase(_SENTENCES, "rankings", source=Cite("plackett1975")))
        sentences += [] if board.data.worst is None else [best_worst_sentence(RANKING)]
    elif board.data.n_ties:
        sentences.append(ties_sentence("" if is_estimate else ENGLISH["methods.ties.prior"]))
    elif not isinstance(before, Choices) and before.n_ties:
        sentences.append(_TIES[chosen["ties"]])
    if names := board.data.covariate_names:
        sentences.append(phrase(ENGLISH, f"{ml}methods.covariates", names=listed(names, _NAMED)))
    if lapse := chosen.get("lapse"):  # which the command line does not know
        sentences.append(phrase(ENGLISH, "ml.methods.lapse", lapse=f"{lapse:g}"))
    return tuple(sentences)


def _varying(data: Judgements, chosen: dict[str, Any]) -> tuple[Text, ...]:
    """How judges differ, worths change, and parts have something in common."""

    def spread(name: str, value: float | None) -> Text:
        return phrase(_SENTENCES, "learned" if value is None else "known", name=name, value=value)

    sentences: list[Text] = []
    if chosen["judges"]:
        sentences.append(phrase(_SENTENCES, "judges", spread=spread("tau", chosen["judge_sd"])))
    if chosen["judge_bias"]:
        sentences.append(_SENTENCES["bias"])
    if chosen["period"] is not None:
        drift = spread("s", chosen["drift"])
        sentences.append(phrase(_SENTENCES, "period", period=chosen["period"], spread=drift))
    dates = [f"{word} {chosen[key]}" for key, word in (("since", "since"), ("until", "until")) if chosen[key]]
    if dates:
        sentences.append(phrase(_SENTENCES, "dates", dates=" and ".join(dates)))
    return (*sentences, *([phrase(_SENTENCES, "pool", spread=spread("s", None))] if chosen["pool"] else []))


def _people(board: Leaderboard, method: str) -> tuple[Text, ...]:
    """How worths were found, and what was made of people."""
    from thali._aspects.findings.english import ENGLISH
    from thali._aspects.findings.people import said_of

    errors: Text = ENGLISH["ml.methods.observed"]
    if method == "maximum-likelihood" and board.people is not None and board.people.by == SCORES:
        return (phrase(_SENTENCES, method, errors=phrase(_SENTENCES, "people", source=Cite("bell2002"))),)
    return phrase(_SENTENCES, method, errors=errors), *said_of(board.people)


@finding("independence", "Do the intervals hold for other people?", (SCREEN, PAGE), chapter=STATISTICS)
def independence(board: Leaderboard, settings: None) -> Finding | None:
    """What was made of the answers of the same people."""
    from thali._aspects.findings.people import dependence_finding

    return None if board.people is None else dependence_finding(board.people)


@finding("convergence", "Can the fit be relied on?", ON_SCREEN, chapter=STATISTICS)
def convergence(board: Leaderboard, settings: None) -> Finding | None:
    """Whether the chains agree; nothing of a board without chains."""
    found = board.of_chains
    if found is None:
        return None
    differ = [name for name, part in board.boards.items() if part.of_chains is not None and not part.of_chains.agrees]
    notes = () if not differ else (phrase(_SENTENCES, "parts differ", parts=listed(differ, _NAMED)),)
    agrees = found.agrees and not differ
    headline = COMMON["chains agree" if agrees else "chains differ"]
    brief = Brief("Chains", " ".join(map(str, notes))) if found.agrees and differ else brief_of_chains(found)
    return Finding(found.message, notes=notes, good=agrees, headline=headline, brief=brief)


# How it was made, as settings and as Python ---------------------------------------------------------------------------


def settings_of(board: Leaderboard) -> Facts:
    """The settings of the leaderboard and the columns that were named, in words; nothing of those that are not set."""
    found = {name: value for name, value in _given(board).items() if value is not None and value is not False}
    return tuple((name.replace("_", " ").capitalize(), _as_text(value)) for name, value in found.items())


def as_python(board: Leaderboard) -> str:
    """The leaderboard as Python; "" of one that does not know how it was made."""
    from .leaderboard import leaderboard

    usual = {name: each.default for name, each in inspect.signature(leaderboard).parameters.items()}
    words = [f"{name}={value!r}" for name, value in _given(board).items() if value != usual.get(name)]
    return "" if board.made is None else f"import thali as th\n\nboard = th.leaderboard({', '.join(['data', *words])})"


def _given(board: Leaderboard) -> dict[str, Any]:
    """The settings and the columns that a leaderboard was made with; a seed only if it can be typed."""
    if board.made is None:
        return {}
    given = board.made.settings | board.made.columns
    left_out = {"lapse": not given.get("lapse"), "random_seed": not isinstance(given["random_seed"], int)}
    return {name: value for name, value in given.items() if not left_out.get(name)}


def _as_text(value: Any) -> str:
    """A setting as it is read."""
    if isinstance(value, dict):
        return ", ".join(f"{name} = {each}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "yes" if value is True else str(value)
