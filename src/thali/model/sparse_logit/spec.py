"""What is said of the sparse multinomial logit without loading it."""

from functools import partial

from thali._arguments import positive
from thali.data.kinds import CLASSES

from ..options import FOLDS, METHOD, NUMBER_OF_DRAWS, RUN, SEED, TARGET
from ..spec import MODEL, ModelSpec, Option

_DRAWN = ("polya-gamma", "holmes-held")

SPARSE_LOGIT = ModelSpec(
    name="sparse-logit",
    aliases=("sparse-multinomial-logit", "SBMNL"),
    cls="thali.model.sparse_logit.model:SparseMultinomialLogit",
    data=(CLASSES,),
    answers="class probabilities from coefficients that are mostly near zero",
    papers=("polson2013",),
    methods=(*_DRAWN, "map"),
    options=(
        TARGET,
        METHOD,
        Option(
            "eta",
            "Square of the rate of the Laplace prior of the coefficients, above 0; a larger one shrinks them more.",
            float,
            default="learned; --method map needs one",
            check=partial(positive, meaning="a rate"),
        ),
        *(each.but(to=MODEL, methods=_DRAWN) for each in (NUMBER_OF_DRAWS, *RUN[1:])),
        SEED.but(to=MODEL),
        FOLDS,
    ),
)
