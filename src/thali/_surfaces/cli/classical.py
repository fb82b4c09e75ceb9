"""The classical tests of paired comparisons that `thali test` carries out: data only, so that
`--help` stays fast."""

from functools import partial

from thali._arguments import seed_number, whole
from thali._data.kinds import PAIRS
from thali._model.options import CI, COUNTED_TIES, SEED, TABLE_OPTIONS, WHERE, WITHOUT
from thali._model.spec import CONTRASTS, DATA, FEATURES, FIT, ModelSpec, Option

_COLUMNS = tuple(
    each
    for each in TABLE_OPTIONS
    if each.name not in ("option", "rank", "unranked", "best", "worst", "covariates")
)
_CHOSEN = Option(
    "chosen", "Column with the chosen option.", to=DATA, default="recognised", metavar="COLUMN"
)
READ = (WHERE, WITHOUT, *_COLUMNS, _CHOSEN)

ASPECTS = Option(
    "aspects",
    "Known aspects. unique: one per option (Bradley-Terry-Luce); FILE: a table of options and"
    " aspects.",
    to=FEATURES,
    default="unique",
    metavar="unique|FILE",
    words={"unique": "unique"},
)
UNIQUE = Option(
    "unique",
    "Also give each option a unique aspect, in addition to the aspects in FILE.",
    bool,
    FIT,
    default="--unique",
)
SAMPLES = Option(
    "samples",
    "Number of bootstrap samples.",
    int,
    FIT,
    default="1000; for tests of fit, none where chi-square is valid, else 999 or 199",
    check=partial(whole, least=1),
)
TEST = Option(
    "test",
    "Method of computing the p-value.",
    to=FIT,
    default="exact up to 9 options; asymptotic for agreement",
    words={"exact": "exact", "asymptotic": "asymptotic"},
)
EACH = Option(
    "people",
    "Test each judge separately, or the majority of all judges.",
    to=FIT,
    default="each, if respondents are known",
    words={"each": "each", "together": "together"},
)
GROUP = Option(
    "group",
    "Column with the group of each respondent; omit this argument if each group has a separate"
    " file.",
    to=FIT,
    metavar="COLUMN",
)
CONTRAST = Option(
    "contrasts",
    "Contrast of options (or aspects): coefficients that sum to 0. Repeat the argument to test"
    " several contrasts jointly.",
    CONTRASTS,
    FIT,
    typed="contrast",
    metavar="NAME=1,NAME=-1",
)
SCALE = Option(
    "scale",
    "Scale of the contrasts: utilities of options, or weights of aspects.",
    to=FIT,
    default="utility",
    words={"utility": "utility", "weights": "weights"},
)
SMALLER = ASPECTS.but(name="smaller", help="unique, or FILE with the aspects of the smaller model.")
LARGER = ASPECTS.but(
    name="larger", help="FILE with the aspects of the larger model.", default="", metavar="FILE"
)
ORDER = Option(
    "order",
    "Estimate the advantage of the first option, or of the home side.",
    bool,
    FIT,
    default="--no-order",
)
_SEED = SEED.but(
    help="Random seed: the same seed gives the same samples.",
    default="0; random for a bootstrap",
    check=seed_number,
)
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
    return ModelSpec(
        name, others, f"thali._{function}", (PAIRS,), answers, options=(*options, *read)
    )


TESTS: tuple[ModelSpec, ...] = (
    _test(
        "transitivity",
        "paired.stochastic_transitivity:transitivity",
        "in how many triples the choices violate weak, moderate or strong stochastic transitivity",
        aliases=("strans",),
    ),
    _test(
        "circular",
        "paired.triads:circular_triads",
        "whether each judge is more consistent than chance (circular triads, Kendall's zeta)",
        TEST,
        EACH,
        aliases=("consistency", "zeta"),
    ),
    _test(
        "agreement",
        "paired.kendall:agreement",
        "whether judges agree more than by chance (Kendall's u)",
        TEST,
        aliases=("kendall.u", "kendall-u"),
    ),
    _test(
        "trinary",
        "paired.trinary:trinary_inequality",
        "whether the choices satisfy the trinary inequality of a preference tree",
        ASPECTS,
    ),
    _test(
        "likelihood-ratio",
        "aspects.maximum_likelihood.ratio:likelihood_ratio",
        "whether a model with more aspects fits better than one with fewer",
        SMALLER,
        LARGER,
        UNIQUE,
        aliases=("lr", "anova"),
    ),
    _test(
        "wald",
        "paired.wald:wald_test",
        "whether all options (or aspects) have the same worth, or other contrasts are zero",
        CONTRAST,
        SCALE,
        *_KNOWN,
    ),
    _test(
        "group",
        "paired.groups:group_test",
        "whether weights differ between groups of respondents; give --group COLUMN, or one file"
        " per group",
        GROUP,
        *_KNOWN,
        _SEED,
        aliases=("groups", "group.test"),
    ),
    _test(
        "order",
        "paired.order:order_effect",
        "whether the option shown first (or the home side) is favoured; give a table of trials, or"
        " two tables, the second in reverse order",
        *_KNOWN,
        aliases=("home-advantage",),
    ),
    _test(
        "thurstone",
        "paired.thurstonian:thurstone",
        "scale values of Thurstone's Case V and their fit",
        *_OF_FIT,
        aliases=("case-v", "thurstone-case-v"),
    ),
    _test(
        "davidson",
        "paired.ties:davidson",
        "Bradley-Terry-Luce weights with ties as a third outcome, and the home advantage",
        ORDER,
        *_OF_FIT,
        read=READ,
    ),
    _test(
        "bootstrap",
        "paired.resampling:bootstrap",
        "standard errors of the weights from resampled respondents",
        *_KNOWN,
        *_OF_BOOTSTRAP,
    ),
    _test(
        "parametric-bootstrap",
        "paired.resampling:parametric_bootstrap",
        "standard errors of the weights from choices simulated by the fitted model",
        *_KNOWN,
        *_OF_BOOTSTRAP,
    ),
)
