"""Options that several models share; each stands here once, and in the `spec.py` of every model that has it."""

from functools import partial
from pathlib import Path

from thali._arguments import between, positive, seed_number, several_whole, share, whole
from thali._data import roles
from thali._data.kinds import SIMILARITIES
from thali._people.populations import Groups, Individuals, LatentClasses
from thali._posterior.dependence import ADJUSTED, INDEPENDENT

from .spec import (
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
    PEOPLE_VALUE,
    REPORT,
    Option,
)

_COUNT = partial(whole, least=1)

# the run
DRAWS = Option("draws", "Draws of each chain.", int, FIT, default="until the chains agree", check=_COUNT)
NUMBER_OF_DRAWS = DRAWS.but(default="1000")
TUNE = Option(
    "tune", "Draws thrown away first, from each chain.", int, FIT, default="1000", check=partial(whole, least=0)
)
CHAINS = Option("chains", "Independent chains.", int, FIT, default="4", check=_COUNT)
THIN = Option("thin", "Sweeps for each draw.", int, FIT, default="chosen by the model", check=_COUNT)
CORES = Option("cores", "Chains run at once.", int, FIT, default="all there are", check=_COUNT)
SEED = Option("random_seed", "Same seed, same draws.", int, FIT, typed="seed", default="a fresh one", check=seed_number)
MAX_TIME = Option(
    "max_time",
    "Stop after so many seconds, and keep what was drawn.",
    float,
    FIT,
    metavar="SECONDS",
    check=partial(positive, meaning="the seconds after which the run stops"),
)
RUN = (DRAWS, TUNE, CHAINS, THIN, CORES, MAX_TIME)

# the model
METHOD = Option("method", "")
LAPSE = Option(
    "lapse",
    "Probability of a blind choice, in [0, 1).",
    float,
    default="0.01",
    check=partial(share, meaning="the probability of a blind choice"),
)
ALPHA = Option(
    "alpha",
    "Concentration of the prior on aspects, features or classes, above 0.",
    float,
    default="learned",
    check=partial(positive, meaning="the concentration of the prior"),
)
TEMPERING = Option(
    "tempering",
    "Replicas at several temperatures, so that chains change between families of features. auto: on for similarities,"
    " and for aspects to be learned with --no-unique; off; N temperatures to start with, whose number grows while"
    " tuning; or the temperatures themselves.",
    NUMBERS,
    default="auto",
    metavar="auto|off|N|1,T,...",
    words={"auto": None, "off": False},
)
SIMILAR = Option(
    "similar",
    "Take features of different draws for one if their owners have at least this Jaccard index, such as 0.8: for more"
    " than about thirty options or objects.",
    float,
    REPORT,
    default="features of exactly the same owners; 0.8 for similarities and triplets of more than 30 objects",
    check=partial(between, meaning="the Jaccard index from which on features are taken for one"),
)
TREE = Option(
    "tree",
    "A tree of related options, which share aspects more readily: a table of two columns, option and group, or a Newick"
    " file. It takes the place of --aspects or --features.",
    Path,
    FEATURES,
    metavar="FILE",
)
LEAF_LENGTH = Option(
    "leaf_length",
    "With groups: length of the edges above the options, above 0 and at most 1; near 0 groups share nearly everything,"
    " at 1 they mean nothing.",
    float,
    FEATURES,
    default="0.1",
)
GROUP = Option(
    "group",
    "Split the people into groups by this column, or tell every person apart by the column of who answered: aspects or"
    " features in common, weights by group.",
    to=DATA,
    default="none",
    metavar="COLUMN",
)
PEOPLE = Option(
    "people",
    "How respondents differ. independent: as many answers as of different respondents; adjusted: intervals are for new"
    " respondents; individuals: individual weights about common ones (individuals:each: some differ more than others);"
    " classes:K, of choices: K latent classes (classes:K:similar: about common weights); with --group, groups:similar"
    " or groups:common: how its groups differ.",
    PEOPLE_VALUE,
    default="adjusted with laplace, else independent, which the convergence check judges; with --group groups:free",
    metavar="individuals|adjusted|independent|classes:K|groups:WEIGHTS",
    words={
        "independent": INDEPENDENT,
        "adjusted": ADJUSTED,
        "individuals": Individuals(),
        "individuals:each": Individuals(spread="each"),
        "classes:2": LatentClasses(2),
        "classes:3": LatentClasses(3),
        "groups:similar": Groups("similar"),
        "groups:common": Groups("common"),
    },
)
PEOPLE_WITHOUT_CLASSES = PEOPLE.but(
    default="independent, which the convergence check judges; with --group groups:free",
    words={word: value for word, value in PEOPLE.words.items() if not isinstance(value, LatentClasses)},
)
SIGNS = Option(
    "signs",
    "Attributes of which more is better for everybody, or less is; several may follow each other.",
    PAIRS,
    default="any",
    metavar="NAME=increasing|decreasing ...",
)
BY = Option(
    "by",
    "Columns of the respondents, such as age, on which mean tastes depend.",
    NAMES,
    metavar="COLUMN,...",
)
ATTENTION = Option(
    "attention",
    "Attributes that a person may ignore, or all: who looks at what is estimated, too.",
    NAMES,
    default="nobody ignores any",
    metavar="all|COLUMN,...",
    words={"all": True},
)
ATTENTION_BY = Option(
    "attention_by",
    "With --attention: columns of who answered, such as age, on which it depends who attends.",
    NAMES,
    metavar="COLUMN,...",
)
PRIOR_SCALE = Option(
    "prior_scale",
    "About how large variances of tastes among people are before the data.",
    float,
    argument="scale",
    default="1, with attention 0.2",
    check=partial(positive, meaning="the prior size of a variance among people"),
)
ATTENTION_SCALE = Option(
    "attention_scale",
    "With --attention: another prior size of the variances of tastes, such as 1, at which the model is fitted, too, and"
    " shown beside.",
    float,
    REPORT,
    default="no second fit",
    check=partial(positive, meaning="the prior size of a variance among people"),
)
LINEAR = Option(
    "linear",
    "Attributes whose levels are numbers with one slope, rather than a coefficient for each level. Columns of more than"
    " 30 numbers of which some are not whole have one anyway, unless --levels lists them.",
    NAMES,
    metavar="COLUMN,...",
)
SEGMENTS = Option(
    "segments",
    "Group the respondents into K segments by what they prefer; of several numbers, such as 2-6, the most stable is"
    " chosen.",
    COUNTS,
    REPORT,
    default="none are printed; a report has the most stable number",
    metavar="K|K-K|K,K,...",
    check=partial(several_whole, least=2),
)
NONE_OF_THEM = Option(
    "none",
    "The option that stands for none of the others, where people were offered one (an anchored scale): it scores 100,"
    " and sets that reach people are without it.",
    to=REPORT,
    typed="anchor",
    default="no option does",
    metavar="OPTION",
)

# the data
WHERE = Option(
    "where",
    'Leave out the rows in which this does not hold, such as "block == \'main\'" or "rt > 0.2 and rt < 5". A column'
    " is compared by ==, !=, <, <=, >, >=, or is in (A, B), is missing, is not missing. May be given several times: all"
    " conditions must hold.",
    CONDITIONS,
    DATA,
    default="all rows count",
    metavar="CONDITION",
)
WITHOUT = Option(
    "without",
    "A column of the table that is not read, as if the file did not have it. May be given several times.",
    EACH,
    DATA,
    default="none",
    metavar="COLUMN",
)
DISSIMILARITIES = Option(
    "dissimilarities",
    "The numbers of a square or a list are dissimilarities d, such as distances. max: the similarity is the largest d"
    " less d (1 - d if none is above 1); exp: exp(-d / mean).",
    to=DATA,
    default="similarities",
    words={"max": "linear", "exp": "exponential"},
    data=(SIMILARITIES,),
)
LABELS = Option(
    "labels",
    "A table of two columns, a name in the data and the label that is shown for it, of options, objects or levels.",
    Path,
    DATA,
    default="as they are in the data; names of files without folder and ending",
    metavar="FILE",
)


def _column(role: roles.Role, of: str = "", beside: str = "") -> Option:
    """The option that names the column of a role."""
    help = f"The column of {role.meaning}{beside}."
    help = f"Of {of}: t{help[1:]}" if of else help
    return Option(role.name, help, to=DATA, default="recognised", metavar="COLUMN")


RESPONDENT = _column(roles.RESPONDENT)
TASK = _column(roles.TASK_OF_RESPONDENT)
ALTERNATIVE = _column(roles.ALTERNATIVE)
CHOSEN = _column(roles.CHOSEN)
FIRST = _column(roles.FIRST)
SECOND = _column(roles.SECOND)
REJECTED = _column(roles.REJECTED, beside=", beside --chosen")
LOSSES = _column(roles.LOSSES, beside=", beside --count")
COUNT = _column(roles.COUNT)
HOME = _column(roles.HOME)
AWAY = _column(roles.AWAY)
RESULT = _column(roles.RESULT)
CODING = Option(
    "coding",
    "What a value of the column --chosen or --result, or of columns of pairs, means. May be given several times: all"
    " count, and what they do not say is recognised.",
    PAIRS,
    DATA,
    default="recognised",
    metavar="VALUE=first|second|tie|missing",
)
OPTION = _column(roles.OPTION, "rankings", ", beside --rank")
RANK = _column(roles.RANK, "rankings")
UNRANKED = Option(
    "unranked",
    "Of rankings: what the options are that one does not name. absent: not offered; worse: offered, and worse.",
    to=DATA,
    default="absent",
    words={"absent": "absent", "worse": "worse"},
)
BEST = _column(roles.BEST, "best-worst choices")
WORST = _column(roles.WORST, "best-worst choices")
COVARIATES = Option(
    "covariates",
    "Of trials or games: a column that describes the comparison for the first option over the second, such as the"
    " difference of two lengths, or the judge; of columns such as length_a and length_b, --covariate length is their"
    " difference; order: being first, or at home. May be given several times.",
    EACH,
    DATA,
    typed="covariate",
    default="none",
    metavar="COLUMN",
)
OPTION_COVARIATES = Option(
    "option_covariates",
    "A table of the options, with their labels in its first column and a covariate in each other, on which worths"
    " depend; with --aspects unique.",
    Path,
    DATA,
    metavar="FILE",
)
OF_TABLES = (
    RESPONDENT,
    FIRST,
    SECOND,
    REJECTED,
    COUNT,
    LOSSES,
    HOME,
    AWAY,
    RESULT,
    CODING,
    OPTION,
    RANK,
    UNRANKED,
    BEST,
    WORST,
    COVARIATES,
)
OF_TRIPLETS = (
    Option(
        "objects",
        "Of triplets: the columns of the objects that were shown together, beside --odd.",
        NAMES,
        DATA,
        default="recognised",
        metavar="COLUMN,...",
    ),
    _column(roles.ODD, "triplets"),
    _column(roles.ANCHOR, "triplets"),
    _column(roles.NEARER, "triplets"),
    _column(roles.FARTHER, "triplets"),
)
TIES = Option(
    "ties",
    "What a tie counts. davidson: a third outcome, whose odds are learned; half: half a choice of either option; drop:"
    " nothing.",
    to=DATA,
    default="davidson; an error where a test knows choices alone",
    words={"davidson": "davidson", "half": "half", "drop": "drop"},
)
BEST_WORST = Option(
    "best_worst",
    "How best and worst are chosen. ranking: by the best of all, the best of the rest and so on, up to six options;"
    " reversed: the pair that differs most (maximum difference). Of more than three options --aspects unique alone.",
    default="ranking",
    words={"ranking": "ranking", "reversed": "reversed"},
)
COUNTED_TIES = Option(  # where choices alone are known
    "ties",
    "What a tie counts. half: half a choice of either option; drop: nothing.",
    to=DATA,
    default="an error",
    words={"half": "half", "drop": "drop"},
)
COLUMNS = (RESPONDENT, TASK, ALTERNATIVE, CHOSEN)
CODES = Option(
    "codes",
    "A table of three columns, an attribute, a code in the data, and the label or the price that it stands for.",
    Path,
    DATA,
    metavar="FILE",
)
DESIGN = Option(
    "design",
    "The design of which the data are the answers: a row for each alternative of each task of each version. Answers are"
    " a row a person and task, or a row a person and a column a task.",
    Path,
    DATA,
    metavar="FILE",
)
EXPERIMENT = (
    WHERE,
    WITHOUT,
    LABELS,
    CODES,
    DESIGN,
    *COLUMNS,
    Option(
        "alternatives",
        "Of a table with a row a task: the alternatives as its columns name them, in the order of their numbers.",
        NAMES,
        DATA,
        default="recognised",
        metavar="A,B,...",
    ),
    Option(
        "attributes",
        "The columns that describe the products.",
        NAMES,
        DATA,
        default="all others",
        metavar="COLUMN,...",
    ),
    Option(
        "levels",
        "The levels of an attribute from worst to best; may be given several times.",
        LISTS,
        DATA,
        default="by size, by the alphabet",
        metavar="NAME=A,B,...",
    ),
    Option(
        "none",
        "The no-choice option. Its label among the alternatives, a column with 1 in its rows, or a column and what it"
        " holds in its rows.",
        CELL,
        DATA,
        default="there is none",
        metavar="LABEL|COLUMN|COLUMN=VALUE",
    ),
    Option(
        "bought",
        "The column of a second answer to each task, 1 or 0: whether the product chosen would be bought at all"
        " (dual-response none). Buying nothing is then an alternative.",
        to=DATA,
        default="there is none",
        metavar="COLUMN",
    ),
    Option(
        "bins",
        "Put an attribute of many numbers into K bins, or cut it at A, B, ...",
        CUTS,
        DATA,
        metavar="NAME=K|NAME=A,B,...",
    ),
)
KNOTS = Option(
    "knots",
    "Attributes of numbers whose slope changes at K places, or at A, B, ...",
    CUTS,
    metavar="NAME=K|NAME=A,B,...",
)
INTERACTIONS = Option(
    "interactions",
    "Attributes whose effects depend on those of others, such as price=brand,zoom.",
    LISTS,
    metavar="NAME=A,B,...",
)
CONSTANTS = Option(
    "constants",
    "A constant for each label of an alternative.",
    bool,
    default="for alternatives that have names, none for numbered ones",
)
SPACE = Option(
    "space",
    "What coefficients are: utilities, or amounts in units of the attribute that is called price, cost, fee or fare.",
    default="preference",
    words={name: name for name in ("preference", "willingness-to-pay")},
)
CI = Option(
    "ci",
    "Probability of the intervals of the tables.",
    float,
    REPORT,
    default="0.89",
    check=partial(between, meaning="the probability of an interval"),
)
MARKET_STUDY = (
    Option(
        "market",
        "A table of products, one a line, whose market shares are predicted; a column scenario makes several markets.",
        Path,
        REPORT,
        metavar="FILE",
    ),
    Option(
        "price",
        "The attribute of amounts of money, in which willingness to pay is told.",
        to=REPORT,
        default="one that is called price or cost",
        metavar="COLUMN",
    ),
    CI,
    Option(
        "holdouts",
        'Leave out the rows in which this holds, such as "held_out == 1", and say how well the choices in these tasks'
        " are predicted; written as --where.",
        CONDITIONS,
        REPORT,
        metavar="CONDITION",
    ),
    Option(
        "availability",
        "With --market: on which part of the occasions a product is found, awareness times distribution; several may"
        " follow each other.",
        AMOUNTS,
        REPORT,
        default="1 of each",
        metavar="PRODUCT=NUMBER ...",
    ),
)
MARKET_RULES = (
    Option(
        "rule",
        "With --market: how utilities become choices.",
        to=REPORT,
        default="logit",
        words={name: name for name in ("logit", "first-choice", "randomised-first-choice")},
    ),
    Option(
        "scale",
        "With --market: a factor of all utilities; below 1 shares are more alike.",
        float,
        REPORT,
        default="1",
        check=partial(positive, meaning="the factor of all utilities"),
    ),
    Option(
        "actual",
        "With --market: a table of the products and their shares of today, of which constants make the shares before"
        " any change.",
        Path,
        REPORT,
        metavar="FILE",
    ),
)
TARGET = Option(
    "target",
    f"The column of {roles.TARGET.meaning}. All other columns are covariates, which must be numbers.",
    to=DATA,
    metavar="COLUMN",
)

# the answer
FOLDS = Option(
    "folds",
    "Parts of the cross-validation, the same for all models unless --seed differs; 0: none.",
    int,
    REPORT,
    default="5",
    check=partial(whole, least=0),
)
