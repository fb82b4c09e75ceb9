"""Registry of data kinds (comparisons, choices, ...), one `DataSpec` each."""

from typing import Any

from .column_roles import TARGET
from .data_kind_spec import DataSpec

PAIRS = "paired comparisons"
CHOICES = "choices from sets"
# stored as choices from sets; their posteriors have separate answers
BEST_WORST = "best-worst choices"
SIMILARITIES = "similarities"
TRIPLETS = "triplets"
CLASSES = "covariates and classes"
EXPERIMENTS = "choice experiments"
OWN = "your own data"  # of a likelihood of the user


# of experiments: the attribute that distinguishes products from the no-choice option, and levels
INSIDE = "inside"
INSIDE_LEVELS = ("none", "inside")

_CHOICE_SCORER = "thali._comparison.choice_holdouts:ChoiceScorer"

# In the order in which a table is tried; where no reading is sure, the first one counts.
SPECS: tuple[DataSpec, ...] = (
    DataSpec(
        CHOICES,
        "thali._data.choices:Choices",
        "thali._reading.layouts.choices:SHAPES",
        (
            ("thali._comparison.choice_holdouts:ChoiceSplitter", _CHOICE_SCORER),
            (
                "thali._comparison.choice_holdouts:ChooserSplitter",
                "thali._comparison.choice_holdouts:PeopleScorer",
            ),
        ),
        example="EliminationByAspects()",
        compared="BTL,inferred aspects=ibp",
        name="choices",
    ),
    DataSpec(
        EXPERIMENTS,
        "thali._data.experiments.experiment:ChoiceExperiment",
        "thali._reading.layouts.design_tool:SHAPES",
        (
            ("thali._comparison.choice_holdouts:TaskSplitter", _CHOICE_SCORER),
            ("thali._comparison.choice_holdouts:RespondentSplitter", _CHOICE_SCORER),
        ),
        example="HierarchicalLogit()",
        compared="multinomial-logit,hierarchical-logit,product-classes",
        is_described=True,
        name="experiment",
    ),
    DataSpec(
        PAIRS,
        "thali._data.pairs:PairedComparisons",
        "thali._reading.layouts.pairs:SHAPES",
        (
            (
                "thali._comparison.pair_holdouts:PairSplitter",
                "thali._comparison.pair_holdouts:BinomialScorer",
            ),
        ),
        matrix="which counts how often the row was chosen over the column",
        example="EliminationByAspects()",
        compared="BTL,inferred aspects=ibp",
        by_people=True,
        name="comparisons",
    ),
    DataSpec(
        SIMILARITIES,
        "thali._data.similarities:Similarities",
        "thali._reading.layouts.similarities:SHAPES",
        (
            (
                "thali._comparison.pair_holdouts:ObjectPairSplitter",
                "thali._comparison.pair_holdouts:GaussianScorer",
            ),
        ),
        matrix="which contains the similarity of the row and column objects",
        example="AdditiveClustering()",
        compared="ibp",
        of_objects=True,
        name="similarities",
    ),
    DataSpec(
        TRIPLETS,
        "thali._data.triplets:Triplets",
        "thali._reading.layouts.triplets:SHAPES",
        (
            (
                "thali._comparison.choice_holdouts:QuestionSplitter",
                "thali._comparison.choice_holdouts:AnswerScorer",
            ),
        ),
        example="AdditiveClustering()",
        compared="ibp",
        of_objects=True,
        name="triplets",
    ),
    DataSpec(
        CLASSES,
        "thali._data.classification_data:Observations",
        "thali._reading.layouts.classification:SHAPES",
        (
            (
                "thali._comparison.classifier_holdouts:RowSplitter",
                "thali._comparison.classifier_holdouts:ClassScorer",
            ),
        ),
        example="PlackettLuceRegression()",
        compared="plackett-luce,sparse-logit",
        by_name=TARGET.name,
    ),
    DataSpec(OWN, "", example="LatentFeatureModel(prior, likelihood)"),
)

KIND_BY_NAME = {spec.name: spec.kind for spec in SPECS if spec.name}


def get_data_kind(data: Any) -> str:
    """Return the kind of a data object; "" for data that are not thali's."""
    if not hasattr(type(data), "kind"):  # a data frame may have a column of this name
        return ""
    return data.kind


def find_data_spec(kind: str) -> DataSpec:
    """Return the `DataSpec` of this data kind."""
    return next(spec for spec in SPECS if spec.kind == kind)
