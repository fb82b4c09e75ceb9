"""Published tables and figures, recomputed, with the papers' figures beside ours.

reproduction_entry.py    what an entry is, what it returns, and the parts of a long run
elimination_2006.py      Görür, Jäkel & Rasmussen (2006): paris-rome, celebrities, scan-order
additive_2007.py         Navarro & Griffiths (2007): additive-numbers, additive-countries,
                         additive-letters
additive_2007_simulation.py   their section 5: additive-simulation
phylogenetic_2008.py     Miller, Griffiths & Jordan (2008): pibp-blocks
plackett_luce_2012.py    Archambeau & Caron (2012): plackett-luce-table2, plackett-luce-colon
plackett_luce_2012_mixing.py  their Table 3: plackett-luce-table3
plackett_luce_2012_iris.py    their pictures of iris: plackett-luce-fig2, plackett-luce-fig4
product_classes_2017.py  Daviet & McCausland (2017), a draft: product-classes

command.py               `python -m papers`

`catalogue()` lists the entries and `find(name)` gives one.
"""

from importlib import import_module

from thali._labels import shorten, suggest
from thali.errors import ArgumentError

from .reproduction_entry import Entry, Reproduction, Settings

__all__ = ["Entry", "Reproduction", "Settings", "catalogue", "find"]

_PAPERS = (
    "elimination_2006",
    "additive_2007",
    "additive_2007_simulation",
    "phylogenetic_2008",
    "plackett_luce_2012",
    "plackett_luce_2012_mixing",
    "plackett_luce_2012_iris",
    "product_classes_2017",
)


def catalogue() -> list[Entry]:
    """Every entry, paper by paper."""
    return [entry for paper in _PAPERS for entry in import_module(f"papers.{paper}").ENTRIES]


def find(name: str) -> Entry:
    """The entry of that name; capitals, hyphens and underscores do not matter."""
    entries = {entry.name: entry for entry in catalogue()}
    wanted = name.lower().replace("_", "-")
    if wanted not in entries:
        known = list(entries)
        raise ArgumentError(
            f"There is nothing to reproduce named {name!r}; there are"
            f" {shorten(known, 30)}.{suggest(wanted, known)}"
        )
    return entries[wanted]
