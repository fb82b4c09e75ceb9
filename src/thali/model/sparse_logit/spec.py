"""What is said of the sparse multinomial logit without loading it."""

from thali.data.kinds import CLASSES

from ..options import FOLDS, METHOD, NUMBER_OF_DRAWS, RUN, SEED, TARGET
from ..spec import MODEL, ModelSpec

SPARSE_LOGIT = ModelSpec(
    name="sparse-logit",
    aliases=("sparse-multinomial-logit", "SBMNL"),
    cls="thali.model.sparse_logit.model:SparseMultinomialLogit",
    data=(CLASSES,),
    answers="class probabilities from coefficients that are mostly near zero",
    papers=("polson2013",),
    methods=("polya-gamma", "holmes-held"),
    options=(TARGET, METHOD, *(each.but(to=MODEL) for each in (NUMBER_OF_DRAWS, *RUN[1:], SEED)), FOLDS),
)
