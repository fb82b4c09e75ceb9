"""What product classes are called, take and answer, without loading them."""

from functools import partial

from thali._arguments import proportion, whole
from thali.data.kinds import EXPERIMENTS
from thali.model.options import ALPHA, CHAINS, CORES, EXPERIMENT, LAPSE, MARKET_STUDY, MAX_TIME, METHOD, SEED, SEGMENTS
from thali.model.spec import FIT, PAIRS, REPORT, ModelSpec, Option

PRODUCT_CLASSES = ModelSpec(
    name="product-classes",
    aliases=("classes",),
    cls="thali.choice.product_classes.model:ProductClasses",
    data=(EXPERIMENTS,),
    answers="the classes of products that people care about, and what people choose",
    papers=("daviet2017",),
    methods=("annealed", "smc"),
    pictures=("classes",),
    options=(
        METHOD.but(help=", which also estimates the evidence"),
        Option(
            "monotone",
            "Attributes of which more is better, or less is; several may follow each other.",
            PAIRS,
            default="all are free",
            metavar="NAME=increasing|decreasing ...",
        ),
        LAPSE.but(default="0.02"),
        ALPHA,
        CHAINS.but(default="16", methods=("annealed",)),
        CHAINS.but(name="islands", default="8", help="Independent islands of particles.", methods=("smc",)),
        Option(
            "particles",
            "Particles on each island.",
            int,
            FIT,
            default="64",
            check=partial(whole, least=2),
            methods=("smc",),
        ),
        Option(
            "sweeps",
            "Sweeps that give draws.",
            int,
            FIT,
            default="until the chains agree; with --method smc 60",
            check=partial(whole, least=0),
        ),
        CORES,
        SEED,
        MAX_TIME,
        Option(
            "similar",
            "Overlap of two classes, as sets of products, from which on the printed answer counts them as one.",
            float,
            REPORT,
            default="0.5",
            check=partial(proportion, meaning="the least overlap of classes that count as one"),
        ),
        SEGMENTS,
        *EXPERIMENT,
        *MARKET_STUDY,
    ),
    implied_by=("monotone",),
)
