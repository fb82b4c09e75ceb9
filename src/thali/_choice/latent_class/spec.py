"""What the latent-class logit is called, takes and answers, without loading it."""

from functools import partial

from thali._arguments import several_whole, whole
from thali._data.kinds import EXPERIMENTS
from thali._model.options import (
    BY,
    CONSTANTS,
    EXPERIMENT,
    INTERACTIONS,
    KNOTS,
    LINEAR,
    MARKET_RULES,
    MARKET_STUDY,
    SEED,
    SEGMENTS,
)
from thali._model.spec import COUNTS, REPORT, ModelSpec, Option

LATENT_CLASS = ModelSpec(
    name="latent-class-logit",
    aliases=("LCL", "latent-class"),
    cls="thali._choice.latent_class.model:LatentClassLogit",
    data=(EXPERIMENTS,),
    answers="segments of people with utilities of their own, by maximum likelihood",
    papers=("kamakura1989",),
    options=(
        Option(
            "classes",
            "How many classes of people; of several numbers, such as 1-6, one is chosen.",
            COUNTS,
            default="3",
            metavar="K|K-K|K,K,...",
            check=partial(several_whole, least=1),
        ),
        LINEAR,
        KNOTS,
        INTERACTIONS,
        CONSTANTS,
        BY.but(help="Columns of the respondents, such as age, on which the class of a respondent depends."),
        Option(
            "choose",
            "By what the number of classes is chosen. bic: people count; held-out: how well people are predicted whom"
            " the fit has not seen.",
            default="bic",
            words={"bic": "bic", "held-out": "held-out"},
        ),
        Option(
            "starts",
            "From how many random starts the likelihood is climbed.",
            int,
            default="until three have found the best maximum",
            check=partial(whole, least=1),
        ),
        Option(
            "bootstrap",
            "Test fewer classes against more by so many simulated data sets, such as 99.",
            int,
            REPORT,
            default="0, no test",
            check=partial(whole, least=0),
        ),
        SEED,
        SEGMENTS,
        *EXPERIMENT,
        *MARKET_STUDY,
        *MARKET_RULES,
    ),
)
