"""What every logit answers about markets, by its people and their tastes."""

from typing import TYPE_CHECKING, ClassVar

from ..answers.methods import ChoiceAnswers

if TYPE_CHECKING:
    from ..answers.simulator import MarketDraws
    from .chooser import LogitChooser


class LogitAnswers(ChoiceAnswers):
    """The answers of a logit. A subclass has `_chooser`."""

    _FINDINGS: ClassVar[str] = "thali.choice.logits.findings"

    def _chooser(self) -> "LogitChooser":
        raise NotImplementedError

    def _market_draws(self) -> "MarketDraws":
        from .market import market_draws

        return market_draws(self._chooser())
