"""What the logit models of choice experiments are called, take and answer, without loading them."""

from thali._data.kinds import EXPERIMENTS
from thali._model.options import (
    ATTENTION,
    ATTENTION_BY,
    ATTENTION_SCALE,
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
    PRIOR_SCALE,
    SEED,
    SEGMENTS,
    SIGNS,
    SPACE,
    THIN,
    TUNE,
)
from thali._model.spec import ModelSpec

CODING = (LINEAR, KNOTS, INTERACTIONS, CONSTANTS)
MULTINOMIAL = ModelSpec(
    name="multinomial-logit",
    aliases=("MNL", "conditional-logit"),
    cls="thali._choice.logits.multinomial:MultinomialLogit",
    data=(EXPERIMENTS,),
    answers="one utility function for all respondents, by maximum likelihood",
    papers=("mcfadden1974",),
    options=(*CODING, SPACE, *EXPERIMENT, *MARKET_STUDY, *MARKET_RULES),
)
HIERARCHICAL = ModelSpec(
    name="hierarchical-logit",
    aliases=("HB", "mixed-logit"),
    cls="thali._choice.logits.hierarchical:HierarchicalLogit",
    data=(EXPERIMENTS,),
    answers="utilities that vary between respondents (multivariate normal)",
    papers=("rossi2005", "yu2011"),
    options=(
        *CODING,
        SIGNS,
        BY,
        ATTENTION,
        ATTENTION_BY,
        ATTENTION_SCALE,
        PRIOR_SCALE,
        SPACE,
        DRAWS,
        TUNE.but(default="200"),
        CHAINS,
        THIN.but(default="2; with attention 4; more for many respondents"),
        CORES,
        MAX_TIME,
        SEED,
        SEGMENTS,
        *EXPERIMENT,
        *MARKET_STUDY,
        *MARKET_RULES,
    ),
    pictures=("trace",),
)
