"""What the latent-feature models are called, take and answer, without loading them."""

from functools import partial

from thali._arguments import one_of, positive
from thali._data.kinds import CHOICES, PAIRS, SIMILARITIES, TRIPLETS
from thali._model.names import ALIASES_OF_ASPECTS
from thali._model.options import (
    ALPHA,
    ALTERNATIVE,
    BEST_WORST,
    BY,
    CHOSEN,
    CI,
    DESIGN,
    DISSIMILARITIES,
    DRAWS,
    GROUP,
    LABELS,
    LAPSE,
    LEAF_LENGTH,
    METHOD,
    NONE_OF_THEM,
    OF_TABLES,
    OF_TRIPLETS,
    OPTION_COVARIATES,
    PEOPLE,
    PEOPLE_WITHOUT_CLASSES,
    RESPONDENT,
    RUN,
    SEED,
    SEGMENTS,
    SIMILAR,
    TASK,
    TEMPERING,
    THIN,
    TIES,
    TREE,
    TUNE,
    WHERE,
    WITHOUT,
)
from thali._model.spec import DATA, FEATURES, NUMBER, NUMBERS, REPORT, ModelSpec, Option

_DRAWN, _CHAINS = ("mcmc",), ("mcmc", "laplace")
_PRIOR = (ALPHA, TEMPERING)
_ESTIMATES = ("expectation", "map-features", "conditional-map", "joint-map")

_ON_WHICH_WEIGHTS_DEPEND = (
    "Columns of the respondents, such as age, on which individual weights depend; means --people individuals."
)
ELIMINATION = ModelSpec(
    name="elimination-by-aspects",
    aliases=("elimination", "EBA", "pIBP", *ALIASES_OF_ASPECTS),
    cls="thali._aspects.models.elimination:EliminationByAspects",
    data=(PAIRS, CHOICES),
    answers="the aspects by which options are eliminated, their number and their weights",
    papers=("tversky1972", "gorur2006", "miller2008"),
    methods=("mcmc", "laplace", "maximum-likelihood"),
    features="aspects",
    pictures=("features", "n_features", "trace", "choice_probabilities", "ranks"),
    options=(
        METHOD.but(
            help=", for known aspects (out of more than two options for unique ones alone), or laplace, for pairs and"
            " unique aspects"
        ),
        Option(
            "aspects",
            "Which aspects. ibp infers their number, unique gives each option its own and no other"
            " (Bradley-Terry-Luce), an integer K allows K of them, FILE is a table of options and aspects.",
            to=FEATURES,
            default="ibp; with --method laplace or maximum-likelihood unique",
            metavar="ibp|unique|K|FILE",
            words={"ibp": "ibp", "unique": "unique"},
        ),
        Option("unique", "Give each option an aspect of its own besides.", bool, default="--unique"),
        LAPSE.but(default="0.01; with --method maximum-likelihood 0"),
        SIMILAR.but(methods=_DRAWN),
        CI.but(methods=("maximum-likelihood",)),
        TREE,
        LEAF_LENGTH,
        *(each.but(methods=_DRAWN) for each in (*_PRIOR, TUNE, THIN)),
        *(each.but(methods=_CHAINS) for each in RUN if each not in (TUNE, THIN)),
        SEED,
        WHERE,
        WITHOUT,
        DESIGN,
        LABELS,
        TASK.but(name="choice_id", typed="task"),
        ALTERNATIVE,
        CHOSEN,
        *OF_TABLES,
        OPTION_COVARIATES,
        TIES,
        BEST_WORST,
        GROUP.but(methods=_DRAWN),
        PEOPLE.but(methods=_CHAINS),
        BY.but(help=_ON_WHICH_WEIGHTS_DEPEND, methods=_DRAWN),
        SEGMENTS.but(help=f"With --people individuals: {SEGMENTS.help[0].lower()}{SEGMENTS.help[1:]}", methods=_DRAWN),
        NONE_OF_THEM.but(methods=_CHAINS),
    ),
    aliases_mean={alias: {"aspects": word} for alias, word in ALIASES_OF_ASPECTS.items()},
    aliases_need={"pIBP": "tree"},
    methods_mean={"maximum-likelihood": {"aspects": "unique"}, "laplace": {"aspects": "unique"}},
)
ADDITIVE = ModelSpec(
    name="additive-clustering",
    aliases=("additive", "ADCLUS"),
    cls="thali._aspects.models.additive:AdditiveClustering",
    data=(SIMILARITIES, TRIPLETS),
    answers="the features that objects share, their number and their weights",
    papers=("shepard1979", "navarro2007"),
    methods=("mcmc", "map"),
    features="features",
    pictures=("features", "membership", "n_features", "trace", "similarity"),
    options=(
        METHOD.but(help=", or map, one set of features in seconds, the best of several annealed runs"),
        Option(
            "features",
            "Which features. ibp infers their number, an integer K allows K of them, FILE is a table of objects and"
            " features.",
            to=FEATURES,
            default="ibp",
            metavar="ibp|K|FILE",
            words={"ibp": "ibp"},
        ),
        Option(
            "sigma",
            "Standard deviation of the similarities about the fitted ones; that of one judgement where a column counts"
            " of how many each is the mean.",
            NUMBER,
            default="that of the data, or chosen by cross-validation",
            metavar="NUMBER|learned",
            words={"learned": "learned"},
            check=partial(positive, meaning="the standard deviation of a similarity"),
            data=(SIMILARITIES,),
        ),
        Option(
            "weight_prior",
            "Gamma prior of each weight and of the constant.",
            NUMBERS,
            default="shape 1, and a mean of a tenth of the largest similarity; for triplets 1,1",
            metavar="SHAPE,RATE",
        ),
        Option("constant", "An additive constant for all pairs.", bool, default="--constant", data=(SIMILARITIES,)),
        Option(
            "link",
            "Of triplets: exp, the softmax of the weights that two objects share, or ratio, by their sum and a"
            " constant.",
            default="exp",
            words={"exp": "exp", "ratio": "ratio"},
            data=(TRIPLETS,),
        ),
        LAPSE.but(default="0.01", help="Of triplets, the probability of naming a pair at random.", data=(TRIPLETS,)),
        WHERE,
        WITHOUT,
        LABELS,
        *(each.but(data=(TRIPLETS,)) for each in (*OF_TRIPLETS, RESPONDENT)),
        DESIGN.but(data=(TRIPLETS,)),
        DISSIMILARITIES,
        Option(
            "symmetrize",
            "Take the mean of the two sides of a square where they differ.",
            to=DATA,
            default="an error",
            words={"mean": "mean"},
            data=(SIMILARITIES,),
        ),
        Option(
            "kind",
            "Which estimate is printed and written.",
            to=REPORT,
            typed="estimate",
            default="expectation",
            words={kind: kind for kind in _ESTIMATES},
            check=partial(one_of, choices=_ESTIMATES),
            methods=_DRAWN,
            data=(SIMILARITIES,),
        ),
        SIMILAR.but(methods=_DRAWN),
        GROUP.but(methods=_DRAWN),
        PEOPLE_WITHOUT_CLASSES.but(methods=_DRAWN),
        BY.but(help=_ON_WHICH_WEIGHTS_DEPEND, methods=_DRAWN),
        TREE,
        LEAF_LENGTH,
        *(each.but(methods=_DRAWN) if each is TEMPERING else each for each in _PRIOR),
        *(each.but(methods=_DRAWN) if each in (TUNE, THIN, DRAWS) else each for each in RUN),
        SEED,
    ),
)
OPEN = ModelSpec(
    name="latent-feature-model",
    aliases=("open",),
    cls="thali._aspects.models.open:LatentFeatureModel",
    data=(PAIRS, CHOICES, SIMILARITIES, TRIPLETS),
    answers="features under any prior and any likelihood, yours included",
    papers=("griffiths2011",),
    pictures=("features", "n_features", "trace"),
)
