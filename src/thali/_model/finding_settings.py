"""Settings of findings (interval, seed, market and others), shared by print, files, reports."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from thali._labels import shorten, suggest
from thali._posterior.posterior_interval import INTERVAL
from thali.errors import ArgumentError

from .command_line_options import CI, CORES, SEED
from .model_spec import REPORT, ModelSpec

if TYPE_CHECKING:
    import pandas

_PLAIN = (str, int, float)  # settings that == compares


@dataclass(frozen=True, eq=False)
class AnswerSettings:
    """Settings with which findings are computed, such as interval, seed, market.

    Parameters
    ----------
    ci : float
        Probability of intervals.
    random_seed : int
        Seed of checks, segments, and simulated occasions and respondents.
    cores : int, optional
        Threads; has no influence on the numbers.
    market : pandas.DataFrame, optional
        Products whose shares are predicted.
    rule, scale, availability, actual : optional
        Conversion of utilities to market shares, as for `market_shares`.
    holdouts : ChoiceExperiment, optional
        Held-out choices to predict.
    price : str, optional
        The attribute of amounts of money; None: an attribute called price or cost.
    segments : optional
        Numbers of segments of the respondents.
    of : str, optional
        "respondents": tables are about the respondents themselves. None: about the population that
        they represent.
    none : str, optional
        The option that represents "none of these".
    similar : float, optional
        Overlap from which features or classes are treated as equal; None: the default of the model.
    estimator : str
        The estimate of similarities.
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
    of: str | None = None
    none: str | None = None
    similar: float | None = None
    estimator: str = "expectation"

    def select_given(self, *names: str) -> dict[str, Any]:
        """Return the named settings that are not None, as a dict."""
        settings = {name: getattr(self, name) for name in names}
        return {name: value for name, value in settings.items() if value is not None}

    def equals(self, other_settings: "AnswerSettings") -> bool:
        """Return whether all settings are equal; tables must be the same object."""
        value_pairs = [
            (getattr(self, setting.name), getattr(other_settings, setting.name))
            for setting in fields(self)
        ]
        return all(
            value is other_value
            or (
                isinstance(value, _PLAIN)
                and isinstance(other_value, _PLAIN)
                and value == other_value
            )
            for value, other_value in value_pairs
        )

    @property
    def market_arguments(self) -> dict[str, Any]:
        """Settings to pass to `market_shares`, if they are not None."""
        return self.select_given("rule", "scale", "availability", "actual")

    @property
    def simulation_arguments(self) -> dict[str, Any]:
        """Settings to pass to simulations: cores and random_seed."""
        return {"cores": self.cores, "random_seed": self.random_seed}


DEFAULT_SETTINGS = AnswerSettings()


def build_settings(
    arguments: Mapping[str, Any], spec: ModelSpec | None, method: str
) -> AnswerSettings:
    """Build checked settings of a model's findings from keyword arguments.

    Raises
    ------
    ArgumentError
        If the model has no such setting, or a value is out of range.
    """
    options = {}
    if spec is not None:
        options = {
            option.name: option for option in spec.select_options(method) if option.to == REPORT
        }
    options |= {option.name: option for option in (CI, SEED, CORES) if option.name not in options}
    allowed_names = list(options)
    for name, value in arguments.items():
        if name not in allowed_names:
            raise ArgumentError(
                f"findings() has no setting {name!r} for this model; available:"
                f" {shorten(allowed_names, 99)}.{suggest(name, allowed_names)}"
            )
        option = options.get(name)
        if value is not None and option is not None and option.check is not None:
            option.check(name, value)
    return AnswerSettings(**arguments)
