"""What is asked of an answer besides the model: the same for what is printed, written to files and mailed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thali.posterior.interval import INTERVAL

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings of an answer; each option of a spec that goes to REPORT has its field here.

    Parameters
    ----------
    ci : float
        Probability of intervals, where a model's answer has intervals of any probability.
    random_seed : int
        Of checks, segments, and occasions and people that are simulated.
    cores : int, optional
        Threads; has no influence on the numbers.
    market : pandas.DataFrame, optional
        Products whose shares are predicted.
    price : str, optional
        The attribute of amounts of money; None: one that is called price or cost.
    segments : optional
        Numbers of segments of the respondents.
    similar : float, optional
        From which overlap on features, or classes, count as one; None: the model's own.
    kind : str
        The estimate of similarities.
    folds : int
        Parts of the cross-validation.
    """

    ci: float = INTERVAL
    random_seed: int = 0
    cores: int | None = None
    market: "pandas.DataFrame | None" = None
    price: str | None = None
    segments: Any = None
    similar: float | None = None
    kind: str = "expectation"
    folds: int = 5

    def given(self, *names: str) -> dict[str, Any]:
        """Those of these settings that are not None, as arguments."""
        found = {name: getattr(self, name) for name in names}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def how(self) -> dict[str, Any]:
        """How simulated people and occasions are made, as arguments."""
        return {"cores": self.cores, "random_seed": self.random_seed}


USUAL = Settings()
