"""Options, arguments and answers of the sparse logit, listed without loading it."""

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

_DRAWN = ("auto", "polya-gamma")
_CHAINS = (*_DRAWN, "laplace", "variational")

SPARSE_LOGIT = ModelSpec(
    name="sparse-logit",
    aliases=("sparse-multinomial-logit", "SBMNL"),
    cls="thali._classify.sparse_logit.model:SparseMultinomialLogit",
    data=(CLASSES,),
    answers="class probabilities from sparse coefficients, most of them near zero",
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
            "Squared rate of the Laplace prior on coefficients (> 0); larger values shrink more.",
            float,
            default="learned; 1 with --method map",
            check=partial(check_positive, meaning="a rate"),
        ),
        *(each.but(to=MODEL, methods=_CHAINS) for each in (NUMBER_OF_DRAWS, CHAINS)),
        TUNE.but(to=MODEL, methods=_DRAWN),
        THIN.but(methods=_DRAWN),
        *(each.but(methods=_CHAINS) for each in (CORES, MAX_TIME)),
        SEED.but(to=MODEL, argument="random_state"),
        CI.but(methods=_CHAINS),
    ),
)
