"""Options that several models share; the `spec.py` of each model lists its options."""

from functools import partial
from pathlib import Path

from thali._argument_checks import (
    check_integer,
    check_integers,
    check_open_interval,
    check_positive,
    check_seed,
    check_share,
)
from thali._data import column_roles as roles
from thali._data.kinds import KIND_BY_NAME, SIMILARITIES
from thali._people.people_argument import Individuals
from thali._people.population_weights import RESPONDENTS
from thali._posterior.respondent_dependence import ADJUSTED, INDEPENDENT

from .model_spec import (
    AMOUNTS,
    CELL,
    CONDITIONS,
    COUNTS,
    CUTS,
    DATA,
    EACH,
    FEATURES,
    FIT,
    LISTS,
    NAMES,
    NUMBERS,
    PAIRS,
    REPORT,
    Option,
)

_POSITIVE_COUNT = partial(check_integer, least=1)

# the run
DRAWS = Option(
    "draws", "Draws per chain.", int, FIT, default="until the chains agree", check=_POSITIVE_COUNT
)
NUMBER_OF_DRAWS = DRAWS.but(default="1000")
TUNE = Option(
    "tune",
    "Warm-up draws per chain (discarded).",
    int,
    FIT,
    default="1000",
    check=partial(check_integer, least=0),
)
CHAINS = Option(
    "chains", "Number of independent chains.", int, FIT, default="4", check=_POSITIVE_COUNT
)
THIN = Option(
    "thin", "Sweeps per draw.", int, FIT, default="chosen by the model", check=_POSITIVE_COUNT
)
CORES = Option(
    "cores",
    "Number of chains run in parallel.",
    int,
    FIT,
    default="all cores",
    check=_POSITIVE_COUNT,
)
SEED = Option(
    "random_seed",
    "Random seed: the same seed gives the same draws.",
    int,
    FIT,
    typed="seed",
    default="random",
    check=check_seed,
)
MAX_TIME = Option(
    "max_time",
    "Stop after this time and keep the draws.",
    float,
    FIT,
    metavar="SECONDS",
    check=partial(check_positive, meaning="the run time in seconds"),
)
RUN = (DRAWS, TUNE, CHAINS, THIN, CORES, MAX_TIME)

# the model
METHOD = Option("method", "")
LAPSE = Option(
    "lapse",
    "Probability that a choice is random, in [0, 1).",
    float,
    default="0.01",
    check=partial(check_share, meaning="the probability of a random choice"),
)
ALPHA = Option(
    "alpha",
    "Concentration of the prior on aspects, features or classes (> 0).",
    float,
    default="learned",
    check=partial(check_positive, meaning="the concentration of the prior"),
)
TEMPERING = Option(
    "tempering",
    "Replicas at several temperatures, which help chains move between sets of features. auto: used"
    " for similarities, and for learned aspects with --no-unique; off: not used; N: initial number"
    " of temperatures, adapted during warm-up; or a list of temperatures.",
    NUMBERS,
    default="auto",
    metavar="auto|off|N|1,T,...",
    words={"auto": None, "off": False},
)
SIMILAR = Option(
    "similar",
    "Merge features of different draws if the Jaccard index of their sets of options (or objects)"
    " is at least this value, such as 0.8. Useful with more than about 30 options or objects.",
    float,
    REPORT,
    default="only identical sets are merged; 0.8 for similarities and triplets of more than 30"
    " objects",
    check=partial(check_open_interval, meaning="the Jaccard index"),
)
TREE = Option(
    "tree",
    "Tree of related options, which are more likely to share aspects: a table with the columns"
    " 'option' and 'group', or a Newick file. Replaces --aspects or --features.",
    Path,
    FEATURES,
    metavar="FILE",
)
LEAF_LENGTH = Option(
    "leaf_length",
    "Length of the branches to the options in a tree of groups, in (0, 1]. Near 0 the options of a"
    " group share almost all aspects; at 1 groups have no effect.",
    float,
    FEATURES,
    default="0.1",
)
PEOPLE = Option(
    "people",
    "How respondents differ. independent: no differences, and all answers are independent;"
    " adjusted: no differences, but intervals generalise to new respondents; individuals: each"
    " respondent has individual worths, which vary around those of the population.",
    default="individuals for rankings, larger sets, and best and worst choices; else adjusted,"
    " independent with mcmc",
    words={
        "individuals": Individuals(),
        "adjusted": ADJUSTED,
        "independent": INDEPENDENT,
    },
)
PEOPLE_OF_FEATURES = PEOPLE.but(
    help="Repeated answers of a respondent. independent: all answers are independent; adjusted:"
    " intervals generalise to new respondents.",
    default="independent (the convergence check warns); adjusted with maximum-likelihood",
    words={"adjusted": ADJUSTED, "independent": INDEPENDENT},
)
PEOPLE_OF_LOGITS = PEOPLE_OF_FEATURES.but(default="adjusted")
SIGNS = Option(
    "signs",
    "Attributes for which all respondents prefer higher (or lower) values.",
    PAIRS,
    default="any",
    metavar="NAME=increasing|decreasing ...",
)
BY = Option(
    "by",
    "Respondent columns, such as age, on which mean tastes depend.",
    NAMES,
    metavar="COLUMN,...",
)
LINEAR = Option(
    "linear",
    "Attributes with a single slope instead of one coefficient per level. Automatic for columns"
    " with more than 30 values, some of them not integers, unless --levels lists them.",
    NAMES,
    metavar="COLUMN,...",
)
SEGMENTS = Option(
    "segments",
    "Number of segments into which respondents are grouped by preference, or several numbers such"
    " as 2-6, of which the most stable is selected.",
    COUNTS,
    REPORT,
    default="no segments are printed; a report uses the most stable number",
    metavar="K|K-K|K,K,...",
    check=partial(check_integers, least=2),
)
OF = Option(
    "of",
    "Population to which the results refer. respondents: the respondents themselves, with narrower"
    " intervals.",
    to=REPORT,
    default="the population that the respondents represent",
    words={RESPONDENTS: RESPONDENTS},
)
NONE_OF_THEM = Option(
    "none",
    'Option that represents "none of these", for an anchored scale. Its score is 100, and TURF'
    " sets exclude it.",
    to=REPORT,
    typed="anchor",
    default="no such option",
    metavar="OPTION",
)

# the data
WHERE = Option(
    "where",
    'Keep only rows that meet the condition, such as "block == \'main\'" or "rt > 0.2 and rt <'
    ' 5". Operators: ==, !=, <, <=, >, >=, in (A, B), is missing, is not missing. Repeat the'
    " option to require several conditions.",
    CONDITIONS,
    DATA,
    default="all rows",
    metavar="CONDITION",
)
WITHOUT = Option(
    "without",
    "Column to ignore. Repeat the option for several columns.",
    EACH,
    DATA,
    default="none",
    metavar="COLUMN",
)
KIND = Option(
    "kind",
    "Kind of data, if the table can be read in several ways.",
    to=DATA,
    default="recognised",
    words={name: name for name in KIND_BY_NAME},
)
DISSIMILARITIES = Option(
    "dissimilarities",
    "Read numbers as dissimilarities d, such as distances. max: similarity = max(d) - d (1 - d if"
    " all d are at most 1); exp: similarity = exp(-d / mean(d)).",
    to=DATA,
    default="similarities",
    words={"max": "linear", "exp": "exponential"},
    data=(SIMILARITIES,),
)
LABELS = Option(
    "labels",
    "Table with two columns: a name in the data and the label to show, for options, objects or"
    " levels.",
    Path,
    DATA,
    default="names in the data; file names without folder and extension",
    metavar="FILE",
)


def _build_column_option(role: roles.Role, data_kind: str = "", requirement: str = "") -> Option:
    """Build the command-line option that names a table's column of this role."""
    help = f"Column with {role.meaning}{requirement}."
    if data_kind:
        help = f"For {data_kind}: c{help[1:]}"
    return Option(role.name, help, to=DATA, default="recognised", metavar="COLUMN")


RESPONDENT = _build_column_option(roles.RESPONDENT)
TASK = _build_column_option(roles.TASK_OF_RESPONDENT)
ALTERNATIVE = _build_column_option(roles.ALTERNATIVE)
CHOSEN = _build_column_option(roles.CHOSEN)
FIRST = _build_column_option(roles.FIRST)
SECOND = _build_column_option(roles.SECOND)
REJECTED = _build_column_option(roles.REJECTED, requirement=" (requires --chosen)")
LOSSES = _build_column_option(roles.LOSSES, requirement=" (requires --count)")
COUNT = _build_column_option(roles.COUNT)
PROBABILITY = _build_column_option(roles.PROBABILITY)
HOME = _build_column_option(roles.HOME)
AWAY = _build_column_option(roles.AWAY)
RESULT = _build_column_option(roles.RESULT)
CODING = Option(
    "coding",
    "Meaning of a value in the column given by --chosen or --result, in the pair columns, or in"
    " answers with --design (then the label or number of an alternative, none or missing). Repeat"
    " the option for several values; common words, such as 'left' or 'tie', are recognised"
    " automatically.",
    PAIRS,
    DATA,
    default="recognised",
    metavar="VALUE=left|right|tie|missing|LABEL",
)
OPTION = _build_column_option(roles.OPTION, "rankings", " (requires --rank)")
ITEM = _build_column_option(roles.ITEM, "scores")
SCORE = _build_column_option(roles.SCORE, "scores")
RANK = _build_column_option(roles.RANK, "rankings")
UNRANKED = Option(
    "unranked",
    "Options missing from a ranking. absent: they were not offered; worse: they were offered and"
    " rank below all others.",
    to=DATA,
    default="absent",
    words={"absent": "absent", "worse": "worse"},
)
BEST = _build_column_option(roles.BEST, "best-worst choices")
WORST = _build_column_option(roles.WORST, "best-worst choices")
TRAIT = Option(
    "trait",
    "Trait to read, of several with columns of best and worst options (yield_pos, yield_neg).",
    to=DATA,
    default="the only one",
    metavar="NAME",
)
COVARIATES = Option(
    "covariates",
    "Column that describes a comparison, such as a difference in length (first option minus"
    " second) or the judge. With columns length_a and length_b, --covariate length uses their"
    " difference; --covariate order uses which option was shown first or played at home. Repeat"
    " the option for several columns.",
    EACH,
    DATA,
    typed="covariate",
    default="none",
    metavar="COLUMN",
)
OPTION_COVARIATES = Option(
    "option_covariates",
    "Table with the labels of the options in the first column and, in the other columns,"
    " covariates that predict the worths.",
    Path,
    DATA,
    metavar="FILE",
)
TABLE_OPTIONS = (
    RESPONDENT,
    FIRST,
    SECOND,
    REJECTED,
    COUNT,
    LOSSES,
    PROBABILITY,
    HOME,
    AWAY,
    RESULT,
    CODING,
    OPTION,
    RANK,
    UNRANKED,
    BEST,
    WORST,
    TRAIT,
    COVARIATES,
)
TRIPLET_OPTIONS = (
    Option(
        "objects",
        "Columns with the objects of a triplet (requires --odd).",
        NAMES,
        DATA,
        default="recognised",
        metavar="COLUMN,...",
    ),
    _build_column_option(roles.ODD, "triplets"),
    _build_column_option(roles.ANCHOR, "triplets"),
    _build_column_option(roles.NEARER, "triplets"),
    _build_column_option(roles.FARTHER, "triplets"),
)
SIMILARITY_OPTIONS = (
    _build_column_option(roles.SIMILARITY, "similarities"),
    _build_column_option(roles.CARD, "similarities"),
    _build_column_option(roles.CARD_GROUP, "similarities"),
    DISSIMILARITIES,
)
OBJECT_OPTIONS = (*TRIPLET_OPTIONS, *SIMILARITY_OPTIONS)
TIES = Option(
    "ties",
    "Treatment of ties. davidson: a third outcome, with estimated odds; half: half a choice for"
    " each option; drop: ties are ignored.",
    to=DATA,
    default="davidson; an error in tests that allow only choices",
    words={"davidson": "davidson", "half": "half", "drop": "drop"},
)
BEST_WORST = Option(
    "best_worst",
    "Model of best-worst choices. ranking: best and worst are the first and last of a ranking (up"
    " to six options); reversed: the pair with the largest difference is chosen (MaxDiff).",
    default="ranking for sets of up to three options, else reversed",
    words={"ranking": "ranking", "reversed": "reversed"},
)
COUNTED_TIES = Option(  # for models of choices only
    "ties",
    "Treatment of ties. half: half a choice for each option; drop: ties are ignored.",
    to=DATA,
    default="an error",
    words={"half": "half", "drop": "drop"},
)
COLUMNS = (RESPONDENT, TASK, ALTERNATIVE, CHOSEN)
CODES = Option(
    "codes",
    "Table with three columns: an attribute, a code in the data, and its label or price.",
    Path,
    DATA,
    metavar="FILE",
)
DESIGN = Option(
    "design",
    "Table of the design that was used to collect the data, with one row per alternative, task and"
    " version. The data then have one row per respondent and task, or one row per respondent with"
    " one column per task.",
    Path,
    DATA,
    metavar="FILE",
)
EXPERIMENT = (
    WHERE,
    WITHOUT,
    KIND,
    LABELS,
    CODES,
    DESIGN,
    CODING,
    *COLUMNS,
    Option(
        "alternatives",
        "For a table with one row per task: the alternatives, as they are called in the column"
        " names. If choices are coded as numbers, list the alternatives in the order of these"
        " numbers.",
        NAMES,
        DATA,
        default="recognised",
        metavar="A,B,...",
    ),
    Option(
        "attributes",
        "Columns that describe the products.",
        NAMES,
        DATA,
        default="all other columns",
        metavar="COLUMN,...",
    ),
    Option(
        "levels",
        "Levels of an attribute from worst to best. Repeat the option for several attributes.",
        LISTS,
        DATA,
        default="numeric or alphabetical order",
        metavar="NAME=A,B,...",
    ),
    Option(
        "none",
        "The no-choice option, given as its label among the alternatives, as a column that is 1 in"
        " its rows and 0 elsewhere, or as a column and the value that marks its rows.",
        CELL,
        DATA,
        default="none",
        metavar="LABEL|COLUMN|COLUMN=VALUE",
    ),
    Option(
        "bought",
        "Column with the second answer of each task (dual-response none): 1 if the chosen product"
        " would be bought, else 0. Not buying is then one of the alternatives.",
        to=DATA,
        default="none",
        metavar="COLUMN",
    ),
    Option(
        "bins",
        "Divide a numeric attribute into K bins, or into bins between the cut points A, B, ...",
        CUTS,
        DATA,
        metavar="NAME=K|NAME=A,B,...",
    ),
)
KNOTS = Option(
    "knots",
    "Numeric attributes whose slope changes at K points, or at the values A, B, ...",
    CUTS,
    metavar="NAME=K|NAME=A,B,...",
)
INTERACTIONS = Option(
    "interactions",
    "Attributes whose effects depend on other attributes, such as price=brand,zoom.",
    LISTS,
    metavar="NAME=A,B,...",
)
CONSTANTS = Option(
    "constants",
    "Estimate a constant for each alternative.",
    bool,
    default="only for named (not numbered) alternatives",
)
SPACE = Option(
    "space",
    "Parameterisation: preference (utilities) or willingness-to-pay (amounts in units of the"
    " price).",
    default="preference",
    words={name: name for name in ("preference", "willingness-to-pay")},
)
CI = Option(
    "ci",
    "Probability of the printed intervals, such as 0.89.",
    float,
    REPORT,
    default="0.89",
    check=partial(check_open_interval, meaning="the probability of the intervals"),
)
MARKET_STUDY = (
    Option(
        "market",
        "Table of products (one per row) for which to predict market shares. A column named"
        " 'scenario' defines several markets.",
        Path,
        REPORT,
        metavar="FILE",
    ),
    Option(
        "price",
        "Price attribute for willingness to pay.",
        to=REPORT,
        default="an attribute called price or cost",
        metavar="COLUMN",
    ),
    CI,
    Option(
        "holdouts",
        'Hold out the rows that meet the condition, such as "held_out == 1", and check how well'
        " they are predicted. Conditions are written as for --where.",
        CONDITIONS,
        REPORT,
        metavar="CONDITION",
    ),
    Option(
        "availability",
        "With --market: share of occasions on which a product is available (awareness times"
        " distribution).",
        AMOUNTS,
        REPORT,
        default="1 for all products",
        metavar="PRODUCT=NUMBER ...",
    ),
)
MARKET_RULES = (
    Option(
        "rule",
        "With --market: choice rule for market shares.",
        to=REPORT,
        default="logit",
        words={name: name for name in ("logit", "first-choice", "randomised-first-choice")},
    ),
    Option(
        "scale",
        "With --market: factor by which all utilities are multiplied; a factor below 1 makes"
        " shares more equal.",
        float,
        REPORT,
        default="1",
        check=partial(check_positive, meaning="the factor that multiplies all utilities"),
    ),
    Option(
        "actual",
        "With --market: table of products and their current shares. Predictions are calibrated to"
        " reproduce these shares before any change.",
        Path,
        REPORT,
        metavar="FILE",
    ),
)
TARGET = Option(
    "target",
    f"Column with {roles.TARGET.meaning}. All other columns are covariates and must be numeric.",
    to=DATA,
    metavar="COLUMN",
)

# the answer
