"""What is said of the kind of data, and of the model, without loading either."""

from thali._data.data_kind_spec import DataSpec
from thali._model.command_line_options import NUMBER_OF_DRAWS, SEED
from thali._model.model_spec import DATA, ModelSpec, Option

KIND = "ratings on a scale"

RATINGS = DataSpec(
    KIND,
    f"{__package__}.data:Ratings",
    f"{__package__}.shape:SHAPES",
    ((f"{__package__}.left_out:Answers", f"{__package__}.left_out:RatingScorer"),),
    example="MeanRatings()",
    compared="mean-ratings",
)

MEAN_RATINGS = ModelSpec(
    name="mean-ratings",
    aliases=("means",),
    cls=f"{__package__}.model:MeanRatings",
    data=(KIND,),
    answers="how objects are rated on average",
    options=(
        Option(
            "rating",
            "Of ratings: the column of the rating.",
            to=DATA,
            default="recognised",
            metavar="COLUMN",
        ),
        NUMBER_OF_DRAWS,
        SEED,
    ),
)
