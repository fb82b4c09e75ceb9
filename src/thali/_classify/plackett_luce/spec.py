"""Options, arguments and answers of Plackett-Luce regression, listed without loading it."""

from functools import partial

from thali._argument_checks import check_positive
from thali._data.kinds import CLASSES
from thali._model.command_line_options import (
    CHAINS,
    CI,
    CORES,
    LABELS,
    MAX_TIME,
    METHOD,
    NUMBER_OF_DRAWS,
    SEED,
    TARGET,
    THIN,
    TUNE,
    WHERE,
    WITHOUT,
)
from thali._model.model_spec import MODEL, ModelSpec, Option

_DRAWN = ("gibbs",)

PLACKETT_LUCE = ModelSpec(
    name="plackett-luce",
    aliases=("PL", "plackett-luce-regression"),
    cls="thali._classify.plackett_luce.model:PlackettLuceRegression",
    data=(CLASSES,),
    answers="class probabilities from a few non-negative weights",
    papers=("archambeau2012",),
    methods=("gibbs", "map", "variational"),
    options=(
        TARGET,
        WHERE,
        WITHOUT,
        LABELS,
        METHOD,
        Option(
            "a",
            "Shape of the Gamma prior on weights (> 0); smaller values make the weights sparser.",
            float,
            default="learned; required by --method map",
            check=partial(check_positive, meaning="the shape of the prior on weights"),
        ),
        Option(
            "transform",
            "Transformation of the covariates. exponential: exp(x) and exp(-x) of each"
            " standardised covariate x, and a constant; exponential-pairs: also those of the sum"
            " of each pair of covariates; none: non-negative covariates as given.",
            default="exponential",
            words={
                "exponential": "exponential",
                "exponential-pairs": "exponential-pairs",
                "none": None,
            },
        ),
        *(each.but(to=MODEL, methods=_DRAWN) for each in (NUMBER_OF_DRAWS, TUNE, CHAINS)),
        *(each.but(methods=_DRAWN) for each in (THIN, MAX_TIME)),
        CORES,
        SEED.but(to=MODEL, argument="random_state"),
        CI.but(methods=("gibbs", "variational")),
    ),
    implied_by=("target",),
)
