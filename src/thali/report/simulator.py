"""The market simulator of a report: what the page shows at once, and what its script needs to go on."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from .answers.shared import interval_name
from .document import Section, Share, Simulator

if TYPE_CHECKING:
    from thali.model.market_draws.market import MarketAttribute, MarketDraws

TITLE, NONE = "Market simulator", "none of them"
_LONGEST = 80  # characters of a label that the page shows


def section_of(draws: "MarketDraws") -> Section:
    """The market of the first task and its shares, which a reader may change."""
    from thali.posterior.interval import TAILS

    names = [f"Product {chr(ord('A') + number)}" for number in range(len(draws.first_task))]
    none = [] if draws.none is None else [draws.none]
    found = draws.shares([[*draws.first_task, *none]])[0]
    mean, low, high = draws.described(found, TAILS)
    shares = tuple(
        Share(name, *(f"{100 * value:.1f}" for value in values))
        for name, values in zip([*names, *[NONE] * len(none)], np.transpose([mean, low, high, high - low]), strict=True)
    )
    first = shares[int(mean.argmax())]
    sentences = (
        "Which share of the respondents would choose each product of a market? At first it is that of the first task."
        f" The largest share there: {first.name}, {first.mean} % ({interval_name()} {first.low} to {first.high}).",
        f"Computed from {draws.size}.",
    )
    products = [(name, _levels(draws.attributes, p)) for name, p in zip(names, draws.first_task, strict=True)]
    shown = Simulator(_for_script(draws, TAILS), tuple(products), shares, interval_name())
    return Section(TITLE, sentences, simulator=shown)


def _levels(attributes: "tuple[MarketAttribute, ...]", product: Any) -> tuple[tuple[str, str], ...]:
    """What there is to say of a product: attributes and their levels."""
    said = []
    for attribute, level in zip(attributes, product, strict=True):
        if attribute.fixed is None:
            text = f"{level:g}" if attribute.takes_any else "(lacks it)" if level is None else attribute.levels[level]
            said.append((_shortened(attribute.name), _shortened(text)))
    return tuple(said)


def _for_script(draws: "MarketDraws", tails: Any) -> str:
    """What the script reads: JSON that ends no element of a page, whatever the labels are."""
    found = {
        "attributes": [attribute._asdict() for attribute in draws.attributes],
        "rule": draws.rule.packed(),
        "lapse": draws.lapse,
        "is_estimate": draws.is_estimate,
        "none": draws.none,
        "none_name": NONE,
        "first_task": draws.first_task,
        "tails": tails,
        "interval": interval_name(),
        "interval_words": f"{100 * (tails[1] - tails[0]):g} % of the draws",
    }
    text = json.dumps(found, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
