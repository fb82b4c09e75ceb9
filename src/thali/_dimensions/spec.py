"""Options, arguments and answers of non-negative dimensions, listed without loading them."""

from functools import partial

from thali._argument_checks import check_integer, check_positive
from thali._data.kinds import SIMILARITIES, TRIPLETS
from thali._model.command_line_options import (
    CHOSEN,
    CI,
    CODING,
    DESIGN,
    FIRST,
    KIND,
    LABELS,
    LAPSE,
    RESPONDENT,
    RUN,
    SECOND,
    SEED,
    SIMILARITY_OPTIONS,
    TRIPLET_OPTIONS,
    WHERE,
    WITHOUT,
)
from thali._model.model_spec import ModelSpec, Option

DIMENSIONS = ModelSpec(
    name="nonnegative-dimensions",
    aliases=("dimensions", "SPoSE", "VICE"),
    cls="thali._dimensions.model:NonnegativeDimensions",
    data=(SIMILARITIES, TRIPLETS),
    answers="sparse dimensions of many objects (their number, values and reproducibility)",
    papers=("zheng2019",),
    options=(
        Option(
            "dimensions",
            "Number of dimensions at the start; surplus ones are removed.",
            int,
            default="a third of the objects, from 5 to 70",
            metavar="K",
            check=partial(check_integer, least=1),
        ),
        Option(
            "penalty",
            "Rate of the exponential prior of all values.",
            float,
            default="learned for each dimension",
            check=partial(check_positive, meaning="the rate of the prior"),
        ),
        LAPSE.but(
            default="0.01", help="For triplets: probability of a random answer.", data=(TRIPLETS,)
        ),
        WHERE,
        WITHOUT,
        KIND,
        LABELS,
        *(
            option.but(data=(TRIPLETS,))
            for option in (*TRIPLET_OPTIONS, FIRST, SECOND, CHOSEN, CODING)
        ),
        RESPONDENT,
        DESIGN.but(data=(TRIPLETS,)),
        *(option.but(data=(SIMILARITIES,)) for option in SIMILARITY_OPTIONS),
        CI,
        *RUN,
        SEED,
    ),
)
