"""Command-line options of the classical tests of paired comparisons."""

from functools import partial

from thali._argument_checks import check_integer, check_seed
from thali._data.kinds import PAIRS
from thali._model.command_line_options import (
    CI,
    COUNTED_TIES,
    DESIGN,
    SEED,
    TABLE_OPTIONS,
    WHERE,
    WITHOUT,
)
from thali._model.model_spec import CONTRASTS, DATA, FEATURES, FIT, ModelSpec, Option

_COLUMNS = tuple(
    option
    for option in TABLE_OPTIONS
    if option.name not in ("option", "rank", "unranked", "best", "worst", "trait", "covariates")
)
_CHOSEN = Option(
    "chosen", "Column with the chosen option.", to=DATA, default="recognised", metavar="COLUMN"
)
TABLE_OPTIONS = (WHERE, WITHOUT, DESIGN, *_COLUMNS, _CHOSEN)

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
    check=partial(check_integer, least=1),
)
TEST = Option(
    "test",
    "Method of computing the p-value.",
    to=FIT,
    default="exact up to 9 options; asymptotic for agreement",
    words={"exact": "exact", "asymptotic": "asymptotic"},
)
JUDGES = Option(
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
    check=check_seed,
)
_SAMPLING_OPTIONS = (SAMPLES, _SEED)
_BOOTSTRAP_OPTIONS = (*_SAMPLING_OPTIONS, CI.but(to=FIT))
_ASPECT_OPTIONS = (ASPECTS, UNIQUE)


def _build_test_spec(
    name: str,
    function_path: str,
    answers: str,
    *options: Option,
    aliases: tuple[str, ...] = (),
    read: tuple[Option, ...] = (*TABLE_OPTIONS, COUNTED_TIES),
) -> ModelSpec:
    """Build the `ModelSpec` that describes one classical test to the command line."""
    other_names = (function_path.partition(":")[2].replace("_", "-"), *aliases)
    shown_aliases = tuple(other for other in other_names if other != name)
    return ModelSpec(
        name, shown_aliases, function_path, (PAIRS,), answers, options=(*options, *read)
    )


TESTS: tuple[ModelSpec, ...] = (
    _build_test_spec(
        "transitivity",
        "thali.paired:transitivity",
        "in how many triples the choices violate weak, moderate or strong stochastic transitivity",
        aliases=("strans",),
    ),
    _build_test_spec(
        "circular",
        "thali.paired:circular_triads",
        "whether each judge is more consistent than chance (circular triads, Kendall's zeta)",
        TEST,
        JUDGES,
        aliases=("consistency", "zeta"),
    ),
    _build_test_spec(
        "agreement",
        "thali.paired:agreement",
        "whether judges agree more than by chance (Kendall's u)",
        TEST,
        aliases=("kendall.u", "kendall-u"),
    ),
    _build_test_spec(
        "trinary",
        "thali.paired:trinary_inequality",
        "whether the choices satisfy the trinary inequality of a preference tree",
        ASPECTS,
    ),
    _build_test_spec(
        "likelihood-ratio",
        "thali:likelihood_ratio",
        "whether a model with more aspects fits better than one with fewer",
        SMALLER,
        LARGER,
        UNIQUE,
        aliases=("lr", "anova"),
    ),
    _build_test_spec(
        "wald",
        "thali.paired:wald_test",
        "whether all options (or aspects) have the same worth, or other contrasts are zero",
        CONTRAST,
        SCALE,
        *_ASPECT_OPTIONS,
    ),
    _build_test_spec(
        "group",
        "thali.paired:group_test",
        "whether weights differ between groups of respondents; give --group COLUMN, or one file"
        " per group",
        GROUP,
        *_ASPECT_OPTIONS,
        _SEED,
        aliases=("groups", "group.test"),
    ),
    _build_test_spec(
        "order",
        "thali.paired:order_effect",
        "whether the option shown first (or the home side) is favoured; give a table of trials, or"
        " two tables, the second in reverse order",
        *_ASPECT_OPTIONS,
        aliases=("home-advantage",),
    ),
    _build_test_spec(
        "thurstone",
        "thali.paired:thurstone",
        "scale values of Thurstone's Case V and their fit",
        *_SAMPLING_OPTIONS,
        aliases=("case-v", "thurstone-case-v"),
    ),
    _build_test_spec(
        "davidson",
        "thali.paired:davidson",
        "Bradley-Terry-Luce weights with ties as a third outcome, and the home advantage",
        ORDER,
        *_SAMPLING_OPTIONS,
        read=TABLE_OPTIONS,
    ),
    _build_test_spec(
        "bootstrap",
        "thali.paired:bootstrap",
        "standard errors of the weights from resampled respondents",
        *_ASPECT_OPTIONS,
        *_BOOTSTRAP_OPTIONS,
    ),
    _build_test_spec(
        "parametric-bootstrap",
        "thali.paired:parametric_bootstrap",
        "standard errors of the weights from choices simulated by the fitted model",
        *_ASPECT_OPTIONS,
        *_BOOTSTRAP_OPTIONS,
    ),
)
