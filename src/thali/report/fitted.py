"""The report of a fitted model."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from thali.errors import Message, Words
from thali.model.classifiers.classifier import Classifier
from thali.model.registry import spec_of
from thali.model.settings import Settings
from thali.posterior.interval import INTERVAL, interval_name

from . import data, simulator
from .answers import content_of
from .answers.shared import picture
from .content import Content
from .document import Document, Picture, Section, Table
from .drawing import attempted
from .references import Cite, cited_in
from .settings import made_by, program, versions

if TYPE_CHECKING:
    from thali.model.base import Model

# What each section is called; the order is that of a talk.
QUESTION, TRUST, DESCRIBES, SURE, MISSES, SETTINGS, METHODS, REFERENCES = (
    "What was asked",
    "Do the chains agree",
    "Does the model describe the data",
    "How sure",
    "What the model misses",
    "Settings and versions",
    "Methods, for a paper",
    "References",
)


def document_of(model: "Model", command: str, words: Words, settings: Settings) -> Document:
    """The report of a model; `command` is what was typed, "" if that is not known."""
    found = attempted("the answer of the report", lambda: content_of(model, settings)) or _without_answer(model)
    verdict = model.verdict()
    sections = [
        Section(QUESTION, (*found.question, f"Of {model.fitted_to_}.")),
        *_lights(verdict, found.misses, words),
        found.answer,
        *(attempted("the simulator of the report", lambda: _simulator(model, settings)) or []),
        *_section(SURE, lambda: _certainty(model)),
        *([] if found.misses is None else [found.misses._replace(title=MISSES, good=None)]),
        *_section("The data", lambda: data.section_of(model)),
        _settings(model, command),
        *(attempted(f"the section '{METHODS}' of the report", lambda: _methods(model, found, settings)) or []),
    ]
    return Document(
        title=f"{_name(model)}: {model.fitted_to_}",
        subtitle=_subtitle(found),
        sections=tuple(sections),
        made=made_by(_date(model)),
    )


def _without_answer(model: Any) -> Content:
    """What is said where a fault has cost the answer: the summary is there all the same."""
    lost = "thali met an error of its own and could not compute the answer; every quantity of the model stands below."
    return Content((f"{_name(model)}.",), Section("The answer", (lost,), good=False, headline="An error of thali."))


def _lights(verdict: Any, misses: Section | None, words: Words) -> list[Section]:
    """Do the chains agree, and does the model describe the data: each light says what it is about."""
    by_chains = "chains" in verdict.facts
    of_chains = ("The chains agree.", "The chains do not agree yet.")
    of_estimate = ("The estimate was found.", "The estimate needs care.")
    headline = (of_chains if by_chains else of_estimate)[not verdict.agrees]
    title = TRUST if by_chains else "Was the estimate found"
    found = [Section(title, (verdict.render(words),), good=verdict.agrees, headline=headline)]
    if misses is not None and misses.good is not None:
        said = "The model describes what was checked." if misses.good else "The model misses what was observed."
        found.append(Section(DESCRIBES, misses.sentences[-1:], good=misses.good, headline=said))
    return found


def _section(title: str, make: Callable[[], Section]) -> list[Section]:
    """A section; none, with a warning, where a fault of its own must not cost the others."""
    made = attempted(f"the section '{title}' of the report", make)
    return [] if made is None else [made]


def _simulator(model: Any, settings: Settings) -> list[Section]:
    """The market simulator of a model that knows the choices in any market."""
    draws = model._market_draws()
    if draws is None:
        return []
    market = settings.market
    offered = None if market is None else simulator.offered_in(draws, model._chooser(), market)
    return [simulator.section_of(draws, offered, settings.ci)]


def _subtitle(found: Content) -> str:
    """The answer in one sentence."""
    return (*found.answer.sentences, found.question[0])[0]


def _name(model: Any) -> str:
    """The model as a heading."""
    spec = spec_of(model)
    return (type(model).__name__ if spec is None else spec.name.replace("-", " ")).capitalize()


def _certainty(model: Any) -> Section:
    """Monte Carlo error and traces."""
    if _draws_of(model) is None:
        return Section(
            SURE, ("There are no draws; where the fit has errors or intervals, they stand beside the estimates.",)
        )
    summary = model.summary()
    table = Table("Every quantity, its interval and its Monte Carlo error", summary.rename_axis("quantity"))
    sentence = (
        f"Each quantity has its posterior mean, standard deviation and {interval_name()}; mcse is the Monte Carlo error"
        " of the mean, ess the effective number of draws, and r_hat is near 1 where the chains agree."
    )
    pictures: tuple[Picture, ...] = ()
    spec = spec_of(model)
    if spec is not None and "trace" in spec.pictures:
        pictures = (
            picture("Draws of each chain, one after the other: chains that agree cover the same band.", "trace", model),
        )
    return Section(SURE, (sentence,), pictures, (table,))


def _draws_of(model: Any) -> Any:
    """The posterior; None where the fit made no draws, or a single point, as some methods do."""
    tree = getattr(model, "posterior_", None)
    return None if tree is None or tree["posterior"].sizes["chain"] * tree["posterior"].sizes["draw"] == 1 else tree


def _settings(model: "Model", command: str) -> Section:
    """What the model and the run were, and how to repeat them."""
    facts = [("Model", " ".join(repr(model).split()))]
    facts += [
        (name.replace("_", " ").capitalize(), _number(name, value)) for name, value in model.run_settings().items()
    ]
    return Section(SETTINGS, facts=(*facts, *versions()), code=command or _python(model))


def _number(name: str, value: int) -> str:
    """A setting as it is read; a seed as it is typed."""
    return str(value) if name == "random_seed" else f"{value:,}"


def _python(model: "Model") -> str:
    """The fit as Python."""
    made = f"import thali as th\n\nmodel = th.{' '.join(repr(model).split())}\n"
    if isinstance(model, Classifier):  # whose run stands in the constructor
        return f"{made}model.fit(X, y)"
    return f"{made}model.fit({', '.join(['data', *(f'{k}={v}' for k, v in model.run_settings().items())])})"


def _methods(model: Any, found: Content, settings: Settings) -> list[Section]:
    """A paragraph for a paper, and what it cites."""
    sentences = [*found.methods, *_of_run(model, settings)]
    cited = cited_in(sentences)
    return [
        Section(METHODS, (" ".join(map(str, sentences)),)),
        *([Section(REFERENCES, entries=cited)] if cited else []),
    ]


def _of_run(model: Any, settings: Settings) -> list[str | Message]:
    """Sentences about the draws."""
    draws = _draws_of(model)
    if draws is None:
        return [f"The computations were done with {program()}."]
    sizes, facts = draws["posterior"].sizes, model.verdict().facts
    drawn = f"{sizes['chain']:,} chains of {sizes['draw']:,} draws each were kept, computed with {program()}."
    judged: list[str | Message] = []
    if "r_hat" in facts:
        judged = [
            Message(
                f"Convergence was judged by R-hat (at most {facts['r_hat']:.3f}) and the effective sample sizes (at"
                f" least {facts['ess']:,.0f}) of all reported quantities ",
                Cite("vehtari2021"),
                ".",
            )
        ]
    others = "" if settings.ci == INTERVAL else f", those of levels, money and markets {interval_name(settings.ci)}s"
    return [drawn, *judged, f"Intervals are central {interval_name()}s of the posterior{others}."]


def _date(model: Any) -> str:
    """The day of the draws."""
    draws = _draws_of(model)
    return "" if draws is None else str(draws.attrs["created_at"])[:10]
