"""Whether a fit can be trusted, and what to type if not."""

from typing import TYPE_CHECKING

from thali.errors import Words

if TYPE_CHECKING:
    from thali.model.base import Model


def judgement(model: "Model", words: Words) -> str:
    """The verdict on a fitted model as it is printed."""
    verdict = model.verdict()
    return verdict.render(words) if verdict.agrees else f"WARNING: {verdict.render(words)}"
