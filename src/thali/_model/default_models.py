"""Choice of the default model for a data set, in Python, command line and app."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.kinds import (
    CHOICES,
    CLASSES,
    EXPERIMENTS,
    PAIRS,
    TRIPLETS,
    get_data_kind,
)
from thali._people.people_argument import WORDS, Individuals
from thali._posterior.respondent_dependence import INDIVIDUALS
from thali.errors import DataError

from .model_spec import ModelSpec
from .registry import SPECS, find_spec_by_name

if TYPE_CHECKING:
    from thali._data.base_classes import Judged
    from thali._data.choices import Choices
    from thali._data.experiments import ChoiceExperiment


MIN_TASKS = 4  # of the median respondent; from here on respondents have individual utilities
MAX_OPTIONS = 40  # up to here, pairs are fitted with shared aspects
MAX_OBJECTS = 60  # up to here, triplets are fitted with features, on which chains can agree
# of triplets; with fewer, features predict better than dimensions (85 shoes, 100 things)
MIN_ANSWERS_PER_OBJECT = 20
MAX_MEMBERS = 3  # per set, up to which choices are fitted with shared aspects
WORTHS = "BTL"
ASPECTS = "elimination-by-aspects"
FEATURES = "additive-clustering"
DIMENSIONS = "nonnegative-dimensions"
RESPONDENT_OPTIONS = ("people", "method")  # each excludes individual worths


def _always(data: "Judged") -> bool:
    """Return True: the model is a default for any data of its kind."""
    return True


def _never(data: "Judged") -> bool:
    """Return False: the model is used only if it is named."""
    return False


def _has_many_tasks(data: "ChoiceExperiment") -> bool:
    """Return whether the median of several respondents answered at least `MIN_TASKS` tasks."""
    return data.n_respondents > 1 and count_median_tasks(data) >= MIN_TASKS


def _has_few_options(data: "Judged") -> bool:
    """Return whether there are at most `MAX_OPTIONS` options, so that aspects can be inferred."""
    return data.n_options <= MAX_OPTIONS


def _has_few_objects(data: "Judged") -> bool:
    """Return whether features are stable, or there are too few answers for dimensions."""
    return data.n_options <= MAX_OBJECTS or has_few_answers(data)


def has_few_answers(data: "Judged") -> bool:
    """Return whether triplets have fewer than `MIN_ANSWERS_PER_OBJECT` answers per object."""
    return data.n_answers < MIN_ANSWERS_PER_OBJECT * data.n_options


def _has_small_sets(data: Any) -> bool:
    """Return whether all sets have at most `MAX_MEMBERS` members and no answers are ties."""
    return data.sizes.max() <= MAX_MEMBERS and not data.n_ties


def _is_ranked(data: "Judged") -> bool:
    """Return whether data are best-worst choices, rankings or choices from large sets."""
    return data.worst is not None or not _has_small_sets(data)


class ModelOffer(NamedTuple):
    """A model for one kind of data, and conditions on which it is the default."""

    kind: str
    name: str  # of the model, as it is typed
    is_usual: Callable[[Any], bool] = _never
    is_possible: Callable[[Any], bool] = _always

    @property
    def spec(self) -> Any:
        """The `ModelSpec` of the model."""
        return find_spec_by_name(self.name)

    def has_options(self, typed: Iterable[str]) -> bool:
        """Return whether the model's default method takes all these command-line options.

        Any method counts if one is named. `typed` are words, or a mapping of words to typed values,
        of which that of --people counts.
        """
        spec = self.spec
        option_words = {*typed}
        options = spec.options
        if spec.methods and not spec.method_of_individuals and "method" not in option_words:
            options = spec.select_options(spec.methods[0])
        if isinstance(typed, Mapping) and "people" in typed:
            options = [
                option
                for option in options
                if option.word != "people"
                or typed["people"] in WORDS
                or INDIVIDUALS in option.words
            ]
        return {option.word for option in options}.issuperset(option_words)


# By kind of data with several models, the most common first; the first of several default models
# is used.
OFFERS = (
    ModelOffer(EXPERIMENTS, "hierarchical-logit", _has_many_tasks),
    ModelOffer(EXPERIMENTS, "multinomial-logit", _always),
    ModelOffer(EXPERIMENTS, "latent-class-logit"),
    ModelOffer(EXPERIMENTS, "product-classes"),
    ModelOffer(CHOICES, WORTHS, _is_ranked),
    ModelOffer(CHOICES, ASPECTS, _always, _has_small_sets),
    ModelOffer(PAIRS, ASPECTS, _has_few_options),
    ModelOffer(PAIRS, WORTHS, _always),
    ModelOffer(TRIPLETS, FEATURES, _has_few_objects),
    ModelOffer(TRIPLETS, DIMENSIONS, _always),
    ModelOffer(CLASSES, "plackett-luce", _always),
    ModelOffer(CLASSES, "sparse-logit"),
)


def default_comparison(data: "Judged", default_models: str) -> str:
    """Return the models, as typed after `--models`, that `compare` uses for choices by default."""
    if data.n_ties:
        return WORTHS
    if data.worst is None or _has_small_sets(data):
        return default_models
    if len(data.respondents) > 1:
        return f"{WORTHS},individuals=individuals:{WORTHS}"
    return WORTHS


class DefaultModel(NamedTuple):
    """The default model of a data set, its settings, and names of alternative models."""

    offer: ModelOffer
    settings: dict[str, str]
    others: list[str]


def count_median_tasks(data: "ChoiceExperiment") -> Any:
    """Return the number of tasks that the median respondent answered."""
    return np.median(np.diff(data.first_task))


def list_offers(data_kind: str) -> list[ModelOffer]:
    """Return the models that fit this kind of data, the most common first."""
    offers = [offer for offer in OFFERS if offer.kind == data_kind]
    return offers or [
        ModelOffer(data_kind, spec.name, _always)
        for spec in SPECS
        if data_kind in spec.data and spec.options
    ]


def choose_model(data_kind: str, option_words: Iterable[str] = ()) -> ModelSpec:
    """Return the first model for a kind of data that has all typed options; else the first."""
    # max returns the first of equally good offers
    offer = max(list_offers(data_kind), key=lambda candidate: candidate.has_options(option_words))
    return offer.spec


def choose_default_model(data: Any, option_words: Iterable[str] = ()) -> DefaultModel:
    """Choose the default model for a data set and the command-line options typed."""
    is_individual_excluded = excludes_individuals(option_words)
    offers = list_offers(data.kind)
    default_offer = max(offers, key=lambda candidate: candidate.is_usual(data))
    settings = {}
    if default_offer.name == WORTHS and _has_individual_scores(data) and not is_individual_excluded:
        settings["people"] = INDIVIDUALS
    offer = max(
        offers,
        key=lambda candidate: (
            candidate.has_options(option_words),
            candidate.is_possible(data),
            candidate.is_usual(data),
        ),
    )
    other_names = [
        candidate.name
        for candidate in offers
        if candidate.is_possible(data)
        and candidate is not offer
        and candidate.has_options(option_words)
    ]
    return DefaultModel(offer, settings, other_names)


def excludes_individuals(option_words: Iterable[str]) -> bool:
    """Return whether typed options rule out individual worths of respondents."""
    remaining_words = {*option_words}
    # "mcmc" is the method of individual worths
    if isinstance(option_words, Mapping) and option_words.get("method") == "mcmc":
        remaining_words.remove("method")
    return not remaining_words.isdisjoint(RESPONDENT_OPTIONS)


def _has_individual_scores(data: "Choices") -> bool:
    """Return whether respondents answered at least two sets or rankings on average."""
    if data.kind != CHOICES or data.n_ties:
        return False
    n_answers = data.n_answers
    if data.worst is None:  # a ranking is a choice from all of its options, then from the rest
        offered_set_sizes = data.sizes[data.set_of[data.choice]]
        n_answers = data.times[offered_set_sizes == offered_set_sizes.max()].sum()
    return 1 < len(data.respondents) <= n_answers / 2


def fit(data: Any, **settings: Any) -> Any:
    """Fit the default model for the data, as `thali fit` does; return it.

    Choice experiments whose median respondent answered four tasks or more have a hierarchical
    logit, others a multinomial logit. MaxDiff, rankings and choices from sets larger than three
    have Bradley-Terry-Luce worths; each respondent has individual worths if the average respondent
    answered two sets or rankings. Choices from smaller sets and pairs of up to 40 options have
    elimination by aspects; pairs of more options have worths. Similarities, and triplets of up to
    60 objects or with fewer than 20 answers per object, have additive clustering; other triplets
    have non-negative dimensions, on which restarts agree. Covariates and classes have Plackett-Luce
    regression.

    Parameters
    ----------
    data : PairedComparisons, Choices, ChoiceExperiment, Similarities, Triplets or a table
        As `read` returns them.
    **settings
        Arguments of the model's ``fit``, such as ``draws`` and ``random_seed``.

    Returns
    -------
    BradleyTerryLuce, EliminationByAspects, HierarchicalLogit, MultinomialLogit, AdditiveClustering,
    NonnegativeDimensions or PlackettLuceRegression
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
    if not list_offers(get_data_kind(data)):
        raise DataError(
            f"`fit` requires data such as `thali.read` returns; got {type(data).__name__}. Read a"
            " table first."
        )
    offer, default_settings, _ = choose_default_model(data)
    model_arguments = {}
    if "people" in default_settings:  # the only option of a default model
        model_arguments["people"] = Individuals()
    model = offer.spec.load()(**offer.spec.aliases_mean.get(offer.name, {}), **model_arguments)
    if offer.kind == CLASSES:
        return model.fit(data.covariates, data.labels, **settings)
    return model.fit(data, **settings)
