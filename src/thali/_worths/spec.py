"""Options, arguments and answers of Bradley-Terry-Luce worths, listed without loading them."""

from functools import partial

from thali._argument_checks import check_positive
from thali._data.kinds import CHOICES, PAIRS
from thali._model.aliases import ALIASES_OF_WORTHS
from thali._model.command_line_options import (
    ALTERNATIVE,
    BEST_WORST,
    BY,
    CHOSEN,
    CI,
    DESIGN,
    KIND,
    LABELS,
    LAPSE,
    METHOD,
    NONE_OF_THEM,
    OF,
    OPTION_COVARIATES,
    PEOPLE,
    RUN,
    SEED,
    SEGMENTS,
    TABLE_OPTIONS,
    TASK,
    THIN,
    TIES,
    TUNE,
    WHERE,
    WITHOUT,
)
from thali._model.model_spec import ModelSpec, Option

_CHAINS = ("mcmc",)
_DRAWN = ("laplace", "mcmc")

BRADLEY_TERRY_LUCE = ModelSpec(
    name="bradley-terry-luce",
    aliases=ALIASES_OF_WORTHS,
    cls="thali._worths.model:BradleyTerryLuce",
    data=(PAIRS, CHOICES),
    answers="the worth of each option, how much worths vary, and the ranking of the options",
    papers=("bradley1952", "luce1959", "plackett1975"),
    methods=("laplace", "mcmc", "maximum-likelihood"),
    method_of_individuals="mcmc",
    options=(
        METHOD.but(
            help=" (laplace: seconds for hundreds of options; mcmc: slower, without approximation;"
            " maximum-likelihood: no prior)"
        ),
        Option(
            "spread",
            "Standard deviation of the log worths (> 0).",
            float,
            default="learned",
            check=partial(check_positive, meaning="a standard deviation"),
            methods=_DRAWN,
        ),
        LAPSE.but(default="0"),
        CI,
        *(each.but(methods=_CHAINS) for each in (TUNE, THIN)),
        *(each.but(methods=_DRAWN) for each in RUN if each not in (TUNE, THIN)),
        SEED,
        WHERE,
        WITHOUT,
        KIND,
        DESIGN,
        LABELS,
        TASK,
        ALTERNATIVE,
        CHOSEN,
        *TABLE_OPTIONS,
        OPTION_COVARIATES,
        TIES,
        BEST_WORST,
        PEOPLE,
        BY.but(
            help="With --people individuals: respondent columns, such as age, on which worths"
            " depend.",
            methods=_CHAINS,
        ),
        SEGMENTS.but(
            help=f"With --people individuals: {SEGMENTS.help[0].lower()}{SEGMENTS.help[1:]}",
            methods=_CHAINS,
        ),
        OF.but(help=f"With --segments: {OF.help[0].lower()}{OF.help[1:]}", methods=_CHAINS),
        NONE_OF_THEM,
    ),
)
