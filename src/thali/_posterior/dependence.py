"""What a fit made of people who answered more than once: their answers are independent, adjusted
for, or modelled."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from thali._digits import format_percent
from thali._labels import format_plural, simplify_number
from thali._late import carried_out_by
from thali.errors import Argument, Clause, DataError, Message, Remedy, Setting

INDEPENDENT, ADJUSTED, INDIVIDUALS = "independent", "adjusted", "individuals"
# what adjusts: the covariance of people's scores, or a power of the likelihood
SCORES, POWER = "scores", "power"
NEGLIGIBLE = 1.1  # a design effect below it is not worth a word
DOMINANT = 0.55  # share of the information from which on one respondent determines the result
_PREFIX = "people_"


@dataclass(frozen=True)
class Dependence:
    r"""What was made of the answers of the same people, and how much less they say than independent
    ones.

    The design effect is the mean factor by which the variance of an estimate grows,

    .. math:: \delta = \operatorname{tr}(J^- V) / \operatorname{rank} J

    with the information J and the variance V of people's scores at the mode.
    """

    model: str  # INDEPENDENT, ADJUSTED or INDIVIDUALS
    by: str  # SCORES or POWER, of ADJUSTED; else ""
    number: int  # of people
    answers: float
    most: float  # answers of one person
    effect: float  # design effect; NaN of one person, and where it was not computed
    df: float = math.inf  # degrees of freedom of the covariance, of SCORES
    share: float = 0.0  # largest share of the information that is of one person, of SCORES
    grouped: float = 0.0  # 1 for groups of data, whose intervals cannot be adjusted

    @property
    def power(self) -> float:
        """Of the likelihood by which it is adjusted."""
        return 1.0 / max(1.0, self.effect) if self.by == POWER else 1.0

    @property
    def narrow(self) -> float:
        """How many times too narrow intervals are for statements about people; 1 if they are
        not."""
        is_narrow = self.model == INDEPENDENT and self.most > 1.0 and self.effect >= NEGLIGIBLE
        return math.sqrt(self.effect) if is_narrow else 1.0

    @property
    def size(self) -> str:
        """How many answers of how many people, and the design effect."""
        answers = format_plural(simplify_number(self.answers), "answer")
        return f"{answers} from {self.number:,} respondents{effect_in_words(self.effect)}"

    @property
    def warning(self) -> Message | None:
        """The sentence where intervals are too narrow; None where they are not."""
        if self.narrow == 1.0:
            return None
        individuals = Remedy("people", carried_out_by("Individuals")())
        return Message(
            f"Intervals are about {self.narrow:.2g} times too narrow to generalise to new"
            f" respondents, because {self.size} are treated as independent",
            *(
                ()
                if self.grouped
                else (Clause("; set ", Remedy("people", ADJUSTED), " or ", individuals),)
            ),
            ".",
        )

    @property
    def is_good(self) -> bool | None:
        """Whether intervals hold for new samples of people; None where there is nothing to say of
        several people."""
        # by which nothing is adjusted
        if self.model == ADJUSTED and self.most >= 2.0 and math.isnan(self.effect):
            return None
        return False if self.narrow > 1.0 else True if self.model != INDEPENDENT else None

    @property
    def sentence(self) -> Message | None:
        """What was made of people; None where that is not worth a word."""
        if self.model == INDIVIDUALS:
            once = (
                ""
                if self.most > 1.0
                else " One answer per respondent contains little information on heterogeneity."
            )
            return Message(
                f"{self.size}; each respondent has individual values, which vary around those of"
                f" the population.{once}"
            )
        if self.by == SCORES:
            return Message(
                f"Intervals allow for repeated answers: {self.size}; the covariance of the draws"
                f" is cluster-robust ({format_degrees(self.df)}).{format_dominance(self.share)}"
            )
        if self.by == POWER and self.effect < NEGLIGIBLE:
            return Message(
                f"Intervals allow for repeated answers: {self.size}, which are as informative as"
                " independent answers."
            )
        if self.by == POWER:
            return Message(
                f"Intervals allow for repeated answers: {self.size}, so the likelihood is raised"
                f" to the power {self.power:.2g}. This is correct only on average: if respondents"
                " differ far more on one quantity than on all others, the interval of that"
                " quantity is too narrow."
            )
        if self.number == 1:
            return Message(
                f"All {self.answers:,.15g} answers come from one respondent, so intervals apply to"
                " this respondent only."
            )
        if self.most <= 1.0:
            return Message(
                f"Each of the {self.number:,} respondents answered once, so no adjustment is"
                " needed."
            )
        return self.warning

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of the posterior that hold it."""
        return {f"{_PREFIX}{name}": value for name, value in vars(self).items()}


def dependence_in(attributes: Mapping[Any, Any]) -> Dependence | None:
    """Return what the attributes of a posterior contain; None if nobody knew who answered."""
    if f"{_PREFIX}model" not in attributes:
        return None
    model, by, number, *others = (
        attributes[f"{_PREFIX}{each.name}"] for each in fields(Dependence)
    )
    return Dependence(str(model), str(by), int(number), *map(float, others))


def format_degrees(df: float) -> str:
    """Return a number of degrees of freedom, such as "3.1 degrees of freedom"."""
    number = f"{df:.3g}" if df < 100.0 else f"{df:,.0f}"
    return f"{number} degree{'s' * (number != '1')} of freedom"


def format_dominance(share: float) -> str:
    """Return a sentence where one respondent determines the result, from the largest share of the
    information."""
    if share < DOMINANT:
        return ""
    return (
        f" One respondent contributes {format_percent(share)} of the information and largely"
        " determines the result."
    )


def effect_in_words(effect: float) -> str:
    """The design effect in parentheses; "" where it is not known."""
    return "" if math.isnan(effect) else f" (design effect {effect:.2g})"


def of_one_person(people: Any) -> DataError:
    """The error for answers of one respondent, where several are needed."""
    return DataError(
        Setting("people", people),
        " requires several respondents, but all answers are from one; remove ",
        Argument("people"),
        ".",
    )
