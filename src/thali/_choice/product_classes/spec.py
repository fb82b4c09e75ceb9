"""Options, arguments and answers of product classes, listed without loading them."""

from functools import partial

from thali._argument_checks import check_integer, check_proportion
from thali._data.kinds import EXPERIMENTS
from thali._model.command_line_options import (
    ALPHA,
    CHAINS,
    CORES,
    DRAWS,
    EXPERIMENT,
    LAPSE,
    MARKET_STUDY,
    MAX_TIME,
    METHOD,
    OF,
    SEED,
    SEGMENTS,
    THIN,
    TUNE,
)
from thali._model.model_spec import FIT, PAIRS, REPORT, ModelSpec, Option

PRODUCT_CLASSES = ModelSpec(
    name="product-classes",
    aliases=("classes",),
    cls="thali._choice.product_classes.model:ProductClasses",
    data=(EXPERIMENTS,),
    answers="classes of products that respondents distinguish, and choice probabilities",
    papers=("daviet2017",),
    methods=("mcmc", "smc"),
    options=(
        METHOD.but(help=". smc also estimates the evidence"),
        Option(
            "monotone",
            "Attributes for which more (or less) is always preferred.",
            PAIRS,
            default="none",
            metavar="NAME=increasing|decreasing ...",
        ),
        LAPSE.but(default="0.02"),
        ALPHA,
        DRAWS.but(
            help="Draws per chain, or per particle.",
            default="until the chains agree; with --method smc 64",
        ),
        TUNE.but(default="250", methods=("mcmc",)),
        CHAINS.but(default="4; with --method smc 8"),
        THIN.but(default="16", methods=("mcmc",)),
        Option(
            "sweeps_per_step",
            "Sweeps per particle and step (smc).",
            int,
            FIT,
            default="80",
            check=partial(check_integer, least=1),
            methods=("smc",),
        ),
        CORES,
        SEED,
        MAX_TIME,
        Option(
            "similar",
            "Merge two classes in the printed results if their overlap, as sets of products, is at"
            " least this value.",
            float,
            REPORT,
            default="0.5",
            check=partial(check_proportion, meaning="the minimum overlap of merged classes"),
        ),
        SEGMENTS,
        OF,
        *EXPERIMENT,
        *MARKET_STUDY,
    ),
    implied_by=("monotone",),
)
