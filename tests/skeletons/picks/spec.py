"""What is said of the kind of data, and of the model, without loading either."""

from thali._data.data_kind_spec import DataSpec
from thali._model.command_line_options import NUMBER_OF_DRAWS, SEED
from thali._model.model_spec import ModelSpec

KIND = "picks of two"
PICKED = "pair that is picked"  # what a row of a table is of

PICKS = DataSpec(
    KIND,
    f"{__package__}.data:Picks",
    f"{__package__}.shape:SHAPES",
    (
        (
            "thali._comparison.choice_holdouts:QuestionSplitter",
            "thali._comparison.choice_holdouts:AnswerScorer",
        ),
    ),
    example="PickedWorths()",
    compared="picked-worths",
)

PICKED_WORTHS = ModelSpec(
    name="picked-worths",
    aliases=("worths",),
    cls=f"{__package__}.model:PickedWorths",
    data=(KIND,),
    answers="how much each option is worth when two of a set are picked",
    options=(NUMBER_OF_DRAWS, SEED),
)
