"""Treatment of repeated answers by one respondent: independent, adjusted, modelled."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from thali._labels import format_plural, simplify_number
from thali._number_format import format_percent
from thali.errors import Argument, Clause, DataError, Message, Remedy, Setting

INDEPENDENT = "independent"
ADJUSTED = "adjusted"
INDIVIDUALS = "individuals"
# adjustment by the covariance of respondents' scores, or by a power of the likelihood
SCORES = "scores"
POWER = "power"
NEGLIGIBLE = 1.1  # design effects below are not reported
DOMINANT = 0.55  # share of the information from which on one respondent determines the result
_PREFIX = "people_"


@dataclass(frozen=True)
class Dependence:
    r"""Treatment of repeated answers by one respondent, and their design effect.

    The design effect is the mean factor by which the variance of an estimate grows if answers of a
    respondent depend on each other,

    .. math:: \delta = \operatorname{tr}(J^- V) / \operatorname{rank} J

    with the information J and the variance V of respondents' scores at the mode.
    """

    unit: ClassVar[str] = "respondent"
    label: ClassVar[str] = "Respondents"  # of a sentence on a screen

    model: str  # INDEPENDENT, ADJUSTED or INDIVIDUALS
    by: str  # SCORES or POWER, for ADJUSTED; else ""
    number: int  # number of respondents
    answers: float
    most: float  # maximum answers of one respondent
    effect: float  # design effect; NaN for one respondent, or if it was not computed
    df: float = math.inf  # degrees of freedom of the covariance, for SCORES
    share: float = 0.0  # largest share of the information from one respondent, for SCORES

    @property
    def power(self) -> float:
        """Power of the likelihood: 1, or 1 / design effect if it was tempered."""
        if self.by != POWER:
            return 1.0
        return 1.0 / max(1.0, self.effect)

    @property
    def width_deficit(self) -> float:
        """Factor by which intervals are too narrow for new respondents; 1: correct."""
        is_narrow = self.model == INDEPENDENT and self.most > 1.0 and self.effect >= NEGLIGIBLE
        if is_narrow:
            return math.sqrt(self.effect)
        return 1.0

    @property
    def size(self) -> str:
        """Text with numbers of answers, respondents and the design effect."""
        answer_text = format_plural(simplify_number(self.answers), "answer")
        return f"{answer_text} from {self.number:,} {self.unit}s{format_design_effect(self.effect)}"

    @property
    def warning(self) -> Message | None:
        """Warning that intervals are too narrow; None if they are correct."""
        if self.width_deficit == 1.0:
            return None
        text = (
            f"For generalising to new {self.unit}s, intervals are too narrow by a factor of about"
            f" {self.width_deficit:.2g}, because {self.size} are treated as independent"
        )
        return Message(text, Clause("; set ", Remedy("people", ADJUSTED)), ".")

    @property
    def is_good(self) -> bool | None:
        """Whether intervals hold for new respondents; None if unknown."""
        # "adjusted" without effect adjusts nothing
        if self.model == ADJUSTED and self.most >= 2.0 and math.isnan(self.effect):
            return None
        if self.width_deficit > 1.0:
            return False
        if self.model != INDEPENDENT:
            return True
        return None

    @property
    def sentence(self) -> Message | None:
        """Sentence on how repeated answers were treated; None if not worth reporting."""
        if self.model == INDIVIDUALS:
            once_text = ""
            if self.most <= 1.0:
                once_text = (
                    " One answer per respondent contains little information on heterogeneity."
                )
            return Message(
                f"{self.size}; each respondent has individual parameters, distributed around the"
                f" population means (hierarchical model).{once_text}"
            )
        if self.by == SCORES:
            return Message(
                f"Intervals allow for repeated answers: {self.size}; the covariance"
                f" is cluster-robust ({format_degrees(self.df)})."
                f"{format_dominance(self.share, self.unit)}"
            )
        if self.by == POWER and self.effect < NEGLIGIBLE:
            return Message(
                f"Intervals allow for repeated answers: {self.size}, which are as informative as"
                " independent answers."
            )
        if self.by == POWER:
            return Message(
                f"Intervals allow for repeated answers: {self.size}, so the likelihood is raised"
                f" to the power {self.power:.2g}. This is correct only on average: if {self.unit}s"
                " differ far more on one quantity than on all others, the interval for that"
                " quantity is too narrow."
            )
        if self.number == 1:
            return Message(
                f"All {self.answers:,.15g} answers are from one {self.unit}, so intervals apply to"
                f" this {self.unit} only."
            )
        if self.most <= 1.0:
            return Message(
                f"Each of the {self.number:,} {self.unit}s answered once, so no adjustment is"
                " needed."
            )
        return self.warning

    @property
    def attributes(self) -> dict[str, Any]:
        """The treatment as attributes to store in a posterior."""
        return {f"{_PREFIX}{name}": value for name, value in vars(self).items()}


class ItemDependence(Dependence):
    """Treatment of repeated comparisons on one item, which a table of scores contains."""

    unit = "item"
    label = "Intervals"


def read_dependence(attributes: Mapping[Any, Any]) -> Dependence | None:
    """Read the treatment from a posterior's attributes; None if respondents are unknown."""
    if f"{_PREFIX}model" not in attributes:
        return None
    model, adjustment, n_respondents, *other_fields = (
        attributes[f"{_PREFIX}{field_description.name}"] for field_description in fields(Dependence)
    )
    return Dependence(str(model), str(adjustment), int(n_respondents), *map(float, other_fields))


def format_degrees(df: float) -> str:
    """Format degrees of freedom as "3.1 degrees of freedom"."""
    number_text = f"{df:.3g}"
    if df >= 100.0:
        number_text = f"{df:,.0f}"
    if number_text == "1":
        return "1 degree of freedom"
    return f"{number_text} degrees of freedom"


def format_dominance(share: float, unit: str = "respondent") -> str:
    """Return a sentence if one respondent (or item) has most of the information; else ""."""
    if share < DOMINANT:
        return ""
    return (
        f" One {unit} contributes {format_percent(share)} of the information and largely"
        " determines the result."
    )


def format_design_effect(effect: float) -> str:
    """Format a design effect as " (design effect 2.1)"; "" if unknown."""
    if math.isnan(effect):
        return ""
    return f" (design effect {effect:.2g})"


def single_respondent_error(people: Any) -> DataError:
    """Return the error that this value of `people` needs several respondents."""
    return DataError(
        Setting("people", people),
        " requires several respondents, but all answers are from one; remove ",
        Argument("people"),
        ".",
    )
