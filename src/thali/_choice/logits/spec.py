"""Options, arguments and answers of the logit models, listed without loading them."""

from collections.abc import Mapping

from thali._argument_checks import check_positive
from thali._data.kinds import EXPERIMENTS
from thali._model.command_line_options import (
    BY,
    CHAINS,
    CONSTANTS,
    CORES,
    DRAWS,
    EXPERIMENT,
    INTERACTIONS,
    KNOTS,
    LINEAR,
    MARKET_RULES,
    MARKET_STUDY,
    MAX_TIME,
    OF,
    PEOPLE_OF_LOGITS,
    SEED,
    SEGMENTS,
    SIGNS,
    SPACE,
    THIN,
    TUNE,
)
from thali._model.model_spec import AMOUNTS, ModelSpec, Option
from thali.errors import Argument, ArgumentError

PRIOR_NAMES = ("mean_sd", "df", "scale")


def check_priors(name: str, priors: Mapping[str, float] | None) -> dict[str, float]:
    """Return the user's prior sizes by name; raise ArgumentError if invalid."""
    if priors is None:
        return {}
    if not isinstance(priors, Mapping) or not priors.keys() <= {*PRIOR_NAMES}:
        allowed_names = ", ".join(PRIOR_NAMES)
        raise ArgumentError(
            Argument(name), f" must map some of {allowed_names} to numbers; got {priors!r}."
        )
    return {
        prior_name: check_positive(name, prior_size, f"the prior {prior_name}")
        for prior_name, prior_size in priors.items()
    }


PRIORS = Option(
    "priors",
    "Sizes of the priors: mean_sd, df or scale, such as scale=0.5.",
    AMOUNTS,
    default="mean_sd=10, df = coefficients + 3, scale=1",
    metavar="NAME=NUMBER",
    check=check_priors,
)
CODING = (LINEAR, KNOTS, INTERACTIONS, CONSTANTS)
MULTINOMIAL = ModelSpec(
    name="multinomial-logit",
    aliases=("MNL", "conditional-logit"),
    cls="thali._choice.logits.multinomial_logit:MultinomialLogit",
    data=(EXPERIMENTS,),
    answers="one utility function for all respondents, by maximum likelihood",
    papers=("mcfadden1974",),
    options=(*CODING, SPACE, PEOPLE_OF_LOGITS, *EXPERIMENT, *MARKET_STUDY, *MARKET_RULES),
)
HIERARCHICAL = ModelSpec(
    name="hierarchical-logit",
    aliases=("HB", "mixed-logit"),
    cls="thali._choice.logits.hierarchical_logit:HierarchicalLogit",
    data=(EXPERIMENTS,),
    answers="utilities that vary between respondents (multivariate normal)",
    papers=("rossi2005", "yu2011"),
    options=(
        *CODING,
        SIGNS,
        BY,
        PRIORS,
        SPACE,
        DRAWS,
        TUNE.but(default="200"),
        CHAINS,
        THIN.but(default="2; more for many respondents"),
        CORES,
        MAX_TIME,
        SEED,
        SEGMENTS,
        OF,
        *EXPERIMENT,
        *MARKET_STUDY,
        *MARKET_RULES,
    ),
)
