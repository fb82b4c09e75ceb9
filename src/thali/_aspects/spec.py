"""Options, arguments and answers of latent-feature models, listed without loading them."""

from functools import partial

from thali._argument_checks import check_allowed, check_positive
from thali._data.kinds import CHOICES, PAIRS, SIMILARITIES, TRIPLETS
from thali._model.aliases import ALIASES_OF_ASPECTS
from thali._model.command_line_options import (
    ALPHA,
    ALTERNATIVE,
    CHOSEN,
    CI,
    CODING,
    DESIGN,
    DRAWS,
    FIRST,
    KIND,
    LABELS,
    LAPSE,
    LEAF_LENGTH,
    METHOD,
    PEOPLE_OF_FEATURES,
    RESPONDENT,
    RUN,
    SECOND,
    SEED,
    SIMILAR,
    SIMILARITY_OPTIONS,
    TABLE_OPTIONS,
    TASK,
    TEMPERING,
    THIN,
    TIES,
    TREE,
    TRIPLET_OPTIONS,
    TUNE,
    WHERE,
    WITHOUT,
)
from thali._model.model_spec import DATA, FEATURES, NUMBER, NUMBERS, REPORT, ModelSpec, Option

_SAMPLED = ("mcmc",)


def _limit_run_lengths(option: Option) -> Option:
    """Return a command-line option; `draws`, `tune`, `thin` only for sampling methods."""
    if option in (TUNE, THIN, DRAWS):
        return option.but(methods=_SAMPLED)
    return option


_ESTIMATES = ("expectation", "map-features", "conditional-map", "joint-map")

ELIMINATION = ModelSpec(
    name="elimination-by-aspects",
    aliases=("elimination", "EBA", "pIBP", *ALIASES_OF_ASPECTS),
    cls="thali._aspects.models.elimination:EliminationByAspects",
    data=(PAIRS, CHOICES),
    answers="latent aspects by which options are eliminated (their number, weights and members)",
    papers=("tversky1972", "gorur2006", "miller2008"),
    methods=("mcmc", "maximum-likelihood"),
    features="aspects",
    options=(
        METHOD.but(
            help=". maximum-likelihood requires known aspects, and choices between two options"
        ),
        Option(
            "aspects",
            "Aspects of the model. ibp: infer their number; unique: one per option"
            " (Bradley-Terry-Luce); K: exactly K; FILE: a table of options and aspects.",
            to=FEATURES,
            default="ibp; unique with --method maximum-likelihood",
            metavar="ibp|unique|K|FILE",
            words={"ibp": "ibp", "unique": "unique"},
        ),
        Option("unique", "Also give each option a unique aspect.", bool, default="--unique"),
        LAPSE.but(default="0.01; with --method maximum-likelihood 0"),
        SIMILAR.but(methods=_SAMPLED),
        CI,
        TREE,
        LEAF_LENGTH,
        *(option.but(methods=_SAMPLED) for option in (ALPHA, TEMPERING, *RUN)),
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
        TIES,
        PEOPLE_OF_FEATURES,
    ),
    aliases_mean={alias: {"aspects": word} for alias, word in ALIASES_OF_ASPECTS.items()},
    aliases_need={"pIBP": "tree"},
    methods_mean={"maximum-likelihood": {"aspects": "unique"}},
)
ADDITIVE = ModelSpec(
    name="additive-clustering",
    aliases=("additive", "ADCLUS"),
    cls="thali._aspects.models.additive_clustering:AdditiveClustering",
    data=(SIMILARITIES, TRIPLETS),
    answers="latent features that objects share (their number, weights and members)",
    papers=("shepard1979", "navarro2007"),
    methods=("mcmc", "map"),
    features="features",
    options=(
        METHOD.but(
            help=". map finds the best set of features in several annealing runs, in seconds"
        ),
        Option(
            "features",
            "Features of the model. ibp: infer their number; K: exactly K; FILE: a table of"
            " objects and features.",
            to=FEATURES,
            default="ibp",
            metavar="ibp|K|FILE",
            words={"ibp": "ibp"},
        ),
        Option(
            "sigma",
            "Standard deviation of the similarities around their fitted values; if a column counts"
            " judgements, that of a single judgement.",
            NUMBER,
            default="from the data, or by cross-validation",
            metavar="NUMBER|learned",
            words={"learned": "learned"},
            check=partial(
                check_positive, meaning="the error standard deviation of the similarities"
            ),
            data=(SIMILARITIES,),
        ),
        Option(
            "weight_prior",
            "Gamma prior on the weights and the constant.",
            NUMBERS,
            default="shape 1, with mean a tenth of the largest similarity; 1,1 for triplets",
            metavar="SHAPE,RATE",
        ),
        Option(
            "constant",
            "Include an additive constant for all pairs.",
            bool,
            default="--constant",
            data=(SIMILARITIES,),
        ),
        Option(
            "link",
            "Choice rule for triplets. exp: softmax of the summed weights of the features that two"
            " objects share; ratio: proportional to that sum plus a constant.",
            default="exp",
            words={"exp": "exp", "ratio": "ratio"},
            data=(TRIPLETS,),
        ),
        LAPSE.but(
            default="0.01", help="For triplets: probability of a random answer.", data=(TRIPLETS,)
        ),
        WHERE,
        WITHOUT,
        KIND,
        LABELS,
        *(
            option.but(data=(TRIPLETS,))
            for option in (*TRIPLET_OPTIONS, FIRST, SECOND, CHOSEN, CODING)
        ),
        RESPONDENT.but(data=(SIMILARITIES, TRIPLETS)),
        DESIGN.but(data=(TRIPLETS,)),
        *(option.but(data=(SIMILARITIES,)) for option in SIMILARITY_OPTIONS),
        Option(
            "symmetrize",
            "If the similarity matrix is not symmetric, average its two halves.",
            to=DATA,
            default="an error",
            words={"mean": "mean"},
            data=(SIMILARITIES,),
        ),
        Option(
            "estimator",
            "Which estimate to print and save.",
            to=REPORT,
            typed="estimate",
            default="expectation",
            words={name: name for name in _ESTIMATES},
            check=partial(check_allowed, choices=_ESTIMATES),
            methods=_SAMPLED,
            data=(SIMILARITIES,),
        ),
        SIMILAR.but(methods=_SAMPLED),
        CI.but(methods=_SAMPLED),
        PEOPLE_OF_FEATURES.but(
            default="independent (the convergence check warns)", methods=_SAMPLED
        ),
        TREE,
        LEAF_LENGTH,
        ALPHA,
        TEMPERING.but(methods=_SAMPLED),
        *map(_limit_run_lengths, RUN),
        SEED,
    ),
)
OPEN = ModelSpec(
    name="latent-feature-model",
    aliases=("open",),
    cls="thali._aspects.models.latent_feature_model:LatentFeatureModel",
    data=(PAIRS, CHOICES, SIMILARITIES, TRIPLETS),
    answers="find latent features under any prior and likelihood, including your own",
    papers=("griffiths2011",),
)
