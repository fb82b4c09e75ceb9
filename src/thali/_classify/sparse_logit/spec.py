"""What the sparse multinomial logit is called, takes and answers, without loading it."""

from functools import partial

from thali._arguments import positive
from thali._data.kinds import CLASSES
from thali._model.options import (
    CHAINS,
    CORES,
    FOLDS,
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
from thali._model.spec import MODEL, ModelSpec, Option

_DRAWN = ("auto", "polya-gamma")
_CHAINS = (*_DRAWN, "laplace", "variational")

SPARSE_LOGIT = ModelSpec(
    name="sparse-logit",
    aliases=("sparse-multinomial-logit", "SBMNL"),
    cls="thali._classify.sparse_logit.model:SparseMultinomialLogit",
    data=(CLASSES,),
    answers="class probabilities from coefficients that are mostly near zero",
    papers=("polson2013",),
    methods=("auto", "polya-gamma", "laplace", "variational", "map"),
    options=(
        TARGET,
        WHERE,
        WITHOUT,
        LABELS,
        METHOD,
        Option(
            "eta",
            "Square of the rate of the Laplace prior of the coefficients, above 0; a larger one shrinks them more.",
            float,
            default="learned; --method map needs one",
            check=partial(positive, meaning="a rate"),
        ),
        Option(
            "prior",
            "Of the coefficients; horseshoe where few of many covariates are expected to matter.",
            default="laplace",
            words={"laplace": "laplace", "horseshoe": "horseshoe"},
            methods=_DRAWN,
        ),
        Option(
            "global_scale",
            "With the horseshoe, the scale of the prior of tau; a smaller one expects fewer coefficients away from 0.",
            float,
            default="1.0",
            check=partial(positive, meaning="the scale of the prior of tau"),
            methods=_DRAWN,
        ),
        *(each.but(to=MODEL, methods=_CHAINS) for each in (NUMBER_OF_DRAWS, CHAINS, CORES, MAX_TIME)),
        *(each.but(to=MODEL, methods=_DRAWN) for each in (TUNE, THIN)),
        SEED.but(to=MODEL),
        FOLDS,
    ),
)
