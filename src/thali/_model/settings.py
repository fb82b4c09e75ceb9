"""What is asked of an answer besides the model: the same for what is printed, written to files and
mailed."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from thali._labels import shorten, suggest
from thali._posterior.interval import INTERVAL
from thali.errors import ArgumentError

from .options import CI, CORES, SEED
from .spec import REPORT, ModelSpec

if TYPE_CHECKING:
    import pandas

_PLAIN = (str, int, float)  # settings that == compares


@dataclass(frozen=True, eq=False)
class AnswerSettings:
    """The settings of an answer; each option of a spec that goes to REPORT has its field here.

    Parameters
    ----------
    ci : float
        Probability of intervals.
    random_seed : int
        Of checks, segments, and occasions and people that are simulated.
    cores : int, optional
        Threads; has no influence on the numbers.
    market : pandas.DataFrame, optional
        Products whose shares are predicted.
    rule, scale, availability, actual : optional
        How utilities become shares of the market, as for `market_shares`.
    holdouts : ChoiceExperiment, optional
        Choices in tasks that the fit has not seen, which it is to predict.
    price : str, optional
        The attribute of amounts of money; None: one that is called price or cost.
    segments : optional
        Numbers of segments of the respondents.
    none : str, optional
        The option that stands for none of the others.
    similar : float, optional
        From which overlap on features, or classes, count as one; None: the model's own.
    kind : str
        The estimate of similarities.
    folds : int
        Parts of the cross-validation; 0: none.
    bootstrap : int
        Replicates of the test of the number of classes; 0: there is none.
    job : str or path, optional
        A folder that keeps the finished replicates of that test.
    attention_scale : float, optional
        Another prior size of variances, at which who attends to what is estimated, too.
    rows : (X, y), optional
        Of the fit of a classifier: for its cross-validation, and for pictures of its covariates.
    """

    ci: float = INTERVAL
    random_seed: int = 0
    cores: int | None = None
    market: "pandas.DataFrame | None" = None
    rule: str | None = None
    scale: float | None = None
    availability: "Mapping[str, float] | None" = None
    actual: "Mapping[str, float] | None" = None
    holdouts: Any = None
    price: str | None = None
    segments: Any = None
    none: str | None = None
    similar: float | None = None
    kind: str = "expectation"
    folds: int = 0
    bootstrap: int = 0
    job: Any = None
    attention_scale: float | None = None
    rows: Any = None

    def given(self, *names: str) -> dict[str, Any]:
        """Those of these settings that are not None, as arguments."""
        found = {name: getattr(self, name) for name in names}
        return {name: value for name, value in found.items() if value is not None}

    def are(self, other: "AnswerSettings") -> bool:
        """Whether all settings are the same; tables and lists are if they are the same object."""
        pairs = [(getattr(self, each.name), getattr(other, each.name)) for each in fields(self)]
        return all(
            one is two or (isinstance(one, _PLAIN) and isinstance(two, _PLAIN) and one == two)
            for one, two in pairs
        )

    @property
    def of_market(self) -> dict[str, Any]:
        """How utilities become shares of the market, as far as it is not as usual, as arguments."""
        return self.given("rule", "scale", "availability", "actual")

    @property
    def how(self) -> dict[str, Any]:
        """How simulated people and occasions are made, as arguments."""
        return {"cores": self.cores, "random_seed": self.random_seed}


USUAL = AnswerSettings()

_OF_EVERY_RUN = {each.name: each for each in (CI, SEED, CORES)}


def settings_from(given: Mapping[str, Any], spec: ModelSpec | None, method: str) -> AnswerSettings:
    """The settings of a model's answer with those that were given, checked.

    Raises
    ------
    ArgumentError
        If the model's answer has no setting of a name, or a value is out of its range.
    """
    options = (
        {}
        if spec is None
        else {each.name: each for each in spec.options_of(method) if each.to == REPORT}
    )
    known = (*dict.fromkeys((*options, *_OF_EVERY_RUN)), *(("rows",) * ("folds" in options)))
    for name, value in given.items():
        if name not in known:
            raise ArgumentError(
                f"findings() has no setting {name!r} for this model; available:"
                f" {shorten(known, 99)}.{suggest(name, known)}"
            )
        option = (_OF_EVERY_RUN | options).get(name)
        if option is not None and option.check is not None and value is not None:
            option.check(name, value)
    return AnswerSettings(**given)
