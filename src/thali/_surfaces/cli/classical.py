"""The classical tests of paired comparisons that `thali test` carries out: data only, so that `--help` stays fast."""

from functools import partial

from thali._arguments import seed_number, whole
from thali._data.kinds import PAIRS
from thali._model.options import CI, COUNTED_TIES, OF_TABLES, SEED, WHERE, WITHOUT
from thali._model.spec import CONTRASTS, DATA, FEATURES, FIT, ModelSpec, Option

_COLUMNS = tuple(
    each for each in OF_TABLES if each.name not in ("option", "rank", "unranked", "best", "worst", "covariates")
)
_CHOSEN = Option("chosen", "The column of what was chosen.", to=DATA, default="recognised", metavar="COLUMN")
READ = (WHERE, WITHOUT, *_COLUMNS, _CHOSEN)

ASPECTS = Option(
    "aspects",
    "The known aspects: unique, each option its own and no other (Bradley-Terry-Luce), or FILE, a table of options and"
    " aspects.",
    to=FEATURES,
    default="unique",
    metavar="unique|FILE",
    words={"unique": "unique"},
)
UNIQUE = Option("unique", "Give each option an aspect of its own besides.", bool, FIT, default="--unique")
SAMPLES = Option(
    "samples",
    "Samples of the bootstrap.",
    int,
    FIT,
    default="1000; of a test of fit none where chi-square holds, else 999 or 199",
    check=partial(whole, least=1),
)
TEST = Option(
    "test",
    "How the p-value is found.",
    to=FIT,
    default="exact up to 9 options; of agreement asymptotic",
    words={"exact": "exact", "asymptotic": "asymptotic"},
)
EACH = Option(
    "people",
    "Whether each person is a judge, or all together are one, the majority.",
    to=FIT,
    default="each, if the data say who answered",
    words={"each": "each", "together": "together"},
)
GROUP = Option(
    "group",
    "The column that says in which group a person is, if the groups are not files of their own.",
    to=FIT,
    metavar="COLUMN",
)
CONTRAST = Option(
    "contrasts",
    "Options (or aspects) with numbers that sum to 0; several contrasts are tested together.",
    CONTRASTS,
    FIT,
    typed="contrast",
    metavar="NAME=1,NAME=-1",
)
SCALE = Option(
    "scale",
    "Whether a contrast names options or aspects.",
    to=FIT,
    default="utility",
    words={"utility": "utility", "weights": "weights"},
)
SMALLER = ASPECTS.but(name="smaller", help="The aspects of the smaller of two models: unique or FILE.")
LARGER = ASPECTS.but(name="larger", help="The aspects of the larger model: FILE.", default="", metavar="FILE")
ORDER = Option(
    "order",
    "Estimate the advantage of the option shown first, or at home, of trials or of results of games.",
    bool,
    FIT,
    default="--no-order",
)
_SEED = SEED.but(help="Same seed, same samples.", default="0; of a bootstrap a fresh one", check=seed_number)
_OF_FIT = (SAMPLES, _SEED)
_OF_BOOTSTRAP = (*_OF_FIT, CI.but(to=FIT))
_KNOWN = (ASPECTS, UNIQUE)


def _test(
    name: str,
    function: str,
    answers: str,
    *options: Option,
    aliases: tuple[str, ...] = (),
    read: tuple[Option, ...] = (*READ, COUNTED_TIES),
) -> ModelSpec:
    """A test, described as a model is."""
    names = (function.partition(":")[2].replace("_", "-"), *aliases)
    others = tuple(other for other in names if other != name)
    return ModelSpec(name, others, f"thali._{function}", (PAIRS,), answers, options=(*options, *read))


TESTS: tuple[ModelSpec, ...] = (
    _test(
        "transitivity",
        "paired.stochastic_transitivity:transitivity",
        "in how many triples do the choices violate weak, moderate, strong stochastic transitivity",
        aliases=("strans",),
    ),
    _test(
        "circular",
        "paired.triads:circular_triads",
        "is each judge more consistent than chance (circular triads, Kendall's zeta)",
        TEST,
        EACH,
        aliases=("consistency", "zeta"),
    ),
    _test(
        "agreement",
        "paired.kendall:agreement",
        "do the judges agree more than by chance (Kendall's u)",
        TEST,
        aliases=("kendall.u", "kendall-u"),
    ),
    _test(
        "trinary",
        "paired.trinary:trinary_inequality",
        "do the choices satisfy the trinary inequality of a preference tree",
        ASPECTS,
    ),
    _test(
        "likelihood-ratio",
        "aspects.maximum_likelihood.ratio:likelihood_ratio",
        "does a model with more aspects fit better than one with fewer",
        SMALLER,
        LARGER,
        UNIQUE,
        aliases=("lr", "anova"),
    ),
    _test(
        "wald",
        "paired.wald:wald_test",
        "are options (or aspects) worth the same, or are other contrasts of them zero",
        CONTRAST,
        SCALE,
        *_KNOWN,
    ),
    _test(
        "group",
        "paired.groups:group_test",
        "do groups of people differ in the weights; of --group COLUMN, or one file a group",
        GROUP,
        *_KNOWN,
        _SEED,
        aliases=("groups", "group.test"),
    ),
    _test(
        "order",
        "paired.order:order_effect",
        "is the option shown first (or at home) favoured; of trials, or of two files, the second with the opposite"
        " order",
        *_KNOWN,
        aliases=("home-advantage",),
    ),
    _test(
        "thurstone",
        "paired.thurstonian:thurstone",
        "scale values of Thurstone's Case V, and their fit",
        *_OF_FIT,
        aliases=("case-v", "thurstone-case-v"),
    ),
    _test(
        "davidson",
        "paired.ties:davidson",
        "weights of the Bradley-Terry-Luce model with ties as a third outcome, and the advantage of playing at home",
        ORDER,
        *_OF_FIT,
        read=READ,
    ),
    _test(
        "bootstrap",
        "paired.resampling:bootstrap",
        "standard errors of the weights, by drawing people with replacement",
        *_KNOWN,
        *_OF_BOOTSTRAP,
    ),
    _test(
        "parametric-bootstrap",
        "paired.resampling:parametric_bootstrap",
        "standard errors of the weights, by drawing choices from the fitted model",
        *_KNOWN,
        *_OF_BOOTSTRAP,
    ),
)
