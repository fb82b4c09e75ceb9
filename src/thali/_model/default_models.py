"""The model that data get unless one is named: one rule for Python, the command line and the
app."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from thali._data.kinds import CHOICES, CLASSES, EXPERIMENTS, GROUPS, PAIRS, DataForm, get_data_form
from thali._people.populations import parse_people
from thali._posterior.dependence import INDIVIDUALS
from thali.errors import DataError

from .registry import SPECS, spec_named

MIN_TASKS = 4  # of the median respondent, from which on respondents have individual utilities
MAX_OPTIONS = 40  # of which pairs are fitted with shared aspects
MAX_MEMBERS = 3  # of a set out of which choices are fitted with shared aspects
WORTHS, ASPECTS = "BTL", "elimination-by-aspects"
OF_RESPONDENTS = ("people", "group", "method")  # options of which each excludes individual worths


def _always(data: Any) -> bool:
    """Return whether any data have this model."""
    return True


def _by_name(data: Any) -> bool:
    """Return whether data have a model that must be named."""
    return False


def _has_many_tasks(data: Any) -> bool:
    """Return whether the median of several respondents answered four tasks or more."""
    return data.n_respondents > 1 and median_tasks(data) >= MIN_TASKS


def _has_few_options(data: Any) -> bool:
    """Return whether there are no more options than shared aspects are inferred of."""
    return data.n_options <= MAX_OPTIONS


def _has_small_sets(data: Any) -> bool:
    """Return whether shared aspects can be fitted to choices out of these sets."""
    return data.sizes.max() <= MAX_MEMBERS and not data.n_ties


def _is_ranked(data: Any) -> bool:
    """Return whether the choices are MaxDiff, or rankings or other choices out of larger sets."""
    return data.worst is not None or not _has_small_sets(data)


class Offer(NamedTuple):
    """A model of a kind of data, and conditions on data: that they have it unless one is named,
    that it fits them."""

    kind: str
    name: str  # of the model, as it is typed
    is_usual: Callable[[Any], bool] = _by_name
    is_possible: Callable[[Any], bool] = _always

    @property
    def spec(self) -> Any:
        """The model."""
        return spec_named(self.name)

    def has(self, words: Iterable[str]) -> bool:
        """Return whether the model has all of these options, by its usual method unless one is
        named."""
        spec, words = self.spec, {*words}
        is_any = "method" in words or not spec.methods or bool(spec.method_of_individuals)
        options = spec.options if is_any else spec.options_of(spec.methods[0])
        return {option.word for option in options}.issuperset(words)


# By kind of data with several models, that of most data first; of several usual models the first
# counts.
OFFERS = (
    Offer(EXPERIMENTS, "hierarchical-logit", _has_many_tasks),
    Offer(EXPERIMENTS, "multinomial-logit", _always),
    Offer(EXPERIMENTS, "latent-class-logit"),
    Offer(EXPERIMENTS, "product-classes"),
    Offer(CHOICES, WORTHS, _is_ranked),
    Offer(CHOICES, ASPECTS, _always, _has_small_sets),
    Offer(PAIRS, ASPECTS, _has_few_options),
    Offer(PAIRS, WORTHS, _always),
    Offer(CLASSES, "plackett-luce", _always),
    Offer(CLASSES, "sparse-logit"),
)


def compared_by_default(data: Any, usual: str) -> str:
    """Return the models of choices that are compared unless some are named: the usual ones where
    they can be fitted."""
    if data.n_ties:
        return WORTHS
    if data.worst is None or _has_small_sets(data):
        return usual
    return f"{WORTHS},individuals=individuals:{WORTHS}" if len(data.respondents) > 1 else WORTHS


class DefaultModel(NamedTuple):
    """The model of some data: its offer, further options as they are typed, and the names of other
    models."""

    offer: Offer
    settings: dict[str, str]
    others: list[str]


def median_tasks(data: Any) -> Any:
    """Return how many tasks the median respondent answered."""
    return np.median(np.diff(data.first_task))


def offers_of(kind: str) -> list[Offer]:
    """Return the models of a kind of data, that of most data first; of other kinds all that have
    options."""
    offers = [offer for offer in OFFERS if offer.kind == kind]
    return offers or [
        Offer(kind, spec.name, _always) for spec in SPECS if kind in spec.data and spec.options
    ]


def default_model(data: Any, words: Iterable[str] = ()) -> DefaultModel:
    """Return the model of these data that has these options of the command line, the usual one if
    that does."""
    excludes = excludes_individuals(words)
    words = {*words}
    if get_data_form(data) == DataForm(CHOICES, GROUPS):
        data = data.pooled()
    offers = offers_of(data.kind)
    usual = max(offers, key=lambda each: each.is_usual(data))
    settings = {}
    if usual.name == WORTHS and _has_individual_scores(data) and not excludes:
        settings["people"] = INDIVIDUALS
    # the first of those that fit equally well
    offer = max(
        offers, key=lambda each: (each.has(words), each.is_possible(data), each.is_usual(data))
    )
    others = [each.name for each in offers if each.is_possible(data) and each is not offer]
    return DefaultModel(offer, settings, others)


def excludes_individuals(typed: Iterable[str]) -> bool:
    """Return whether respondents have no individual worths by default because of an option that was
    typed."""
    words = {*typed}
    # which is that of individual worths
    if isinstance(typed, Mapping) and typed.get("method") == "mcmc":
        words.remove("method")
    return not words.isdisjoint(OF_RESPONDENTS)


def _has_individual_scores(data: Any) -> bool:
    """Return whether respondents have individual worths: where the average one answered two sets or
    rankings."""
    if data.kind != CHOICES or data.n_ties:
        return False
    answers = data.n_answers
    if data.worst is None:  # a ranking is a choice from all of its options, then from the rest
        size = data.sizes[data.set_of[data.choice]]
        answers = data.times[size == size.max()].sum()
    return 1 < len(data.respondents) <= answers / 2


def fit(data: Any, **settings: Any) -> Any:
    """Fit the model that `thali fit` fits to such data unless one is named.

    Choice experiments whose median respondent answered four tasks or more have a hierarchical
    logit, others a multinomial logit. MaxDiff, rankings and choices from sets larger than three
    have Bradley-Terry-Luce worths; each respondent has individual worths where the average one
    answered two sets or rankings. Choices out of smaller sets and pairs of up to 40 options have
    elimination by aspects; pairs of more options have worths. Similarities and triplets have
    additive clustering; covariates and classes have Plackett-Luce regression.

    Parameters
    ----------
    data : PairedComparisons, Choices, ChoiceExperiment, Similarities, Triplets or a table of
    observations
        As `read` returns them. Several groups of respondents are fitted by a model with ``people``.
    **settings
        Arguments of the model's ``fit``, such as ``draws`` and ``random_seed``.

    Returns
    -------
    BradleyTerryLuce, EliminationByAspects, HierarchicalLogit, MultinomialLogit, AdditiveClustering
    or PlackettLuceRegression
        The fitted model.

    Raises
    ------
    DataError
        If `data` are no data of thali, such as a data frame, or the model refuses them.
    ArgumentError
        If ``fit`` of the model has no such argument, or refuses its value.

    Examples
    --------
    >>> import thali as th
    >>> model = th.fit(
    ...     th.datasets.celebrities(), draws=50, tune=50, random_seed=1, progressbar=False
    ... )
    >>> type(model).__name__
    'EliminationByAspects'
    """
    if not offers_of(getattr(data, "kind", "")):
        raise DataError(
            f"`fit` requires data such as `thali.read` returns; got {type(data).__name__}. Read a"
            " table first."
        )
    offer, typed, _ = default_model(data)
    arguments: dict[str, Any] = {word.replace("-", "_"): value for word, value in typed.items()}
    if "people" in typed:
        arguments["people"] = parse_people(typed["people"])
    model = offer.spec.load()(**offer.spec.aliases_mean.get(offer.name, {}), **arguments)
    parts = (data.covariates, data.labels) if offer.kind == CLASSES else (data,)
    return model.fit(*parts, **settings)
