"""Options, arguments and answers of the latent-class logit, listed without loading it."""

from functools import partial

from thali._argument_checks import check_integer, check_integers
from thali._data.kinds import EXPERIMENTS
from thali._model.command_line_options import (
    BY,
    CONSTANTS,
    EXPERIMENT,
    INTERACTIONS,
    KNOTS,
    LINEAR,
    MARKET_RULES,
    MARKET_STUDY,
    OF,
    PEOPLE_OF_LOGITS,
    SEED,
    SEGMENTS,
)
from thali._model.model_spec import COUNTS, ModelSpec, Option

LATENT_CLASS = ModelSpec(
    name="latent-class-logit",
    aliases=("LCL", "latent-class"),
    cls="thali._choice.latent_class.model:LatentClassLogit",
    data=(EXPERIMENTS,),
    answers="latent classes of respondents with different utilities, by maximum likelihood",
    papers=("kamakura1989",),
    options=(
        Option(
            "classes",
            "Number of latent classes, or a range such as 1-6 to select from.",
            COUNTS,
            default="3",
            metavar="K|K-K|K,K,...",
            check=partial(check_integers, least=1),
        ),
        LINEAR,
        KNOTS,
        INTERACTIONS,
        CONSTANTS,
        BY.but(help="Respondent columns, such as age, that class membership depends on."),
        Option(
            "choose",
            "Criterion for choosing the number of classes. bic: BIC, with the number of"
            " respondents as sample size; held-out: predictive accuracy for held-out respondents.",
            default="bic",
            words={"bic": "bic", "held-out": "held-out"},
        ),
        Option(
            "starts",
            "Number of random starts.",
            int,
            default="until three reach the best maximum",
            check=partial(check_integer, least=1),
        ),
        PEOPLE_OF_LOGITS,
        SEED,
        SEGMENTS,
        OF,
        *EXPERIMENT,
        *MARKET_STUDY,
        *MARKET_RULES,
    ),
)
