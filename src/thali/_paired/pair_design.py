"""Design of paired comparisons: all pairs, balanced in order and position."""

from typing import Any

from thali._designs.set_designs import schedule_rounds
from thali._labels import check_design_labels, format_plural
from thali._printed_result import PrintedResult, printed_dataclass


@printed_dataclass
class PairDesign(PrintedResult):
    """A design of all pairs: `.table`, with opposite orders in `list_a` and `list_b`."""

    list_a: list[tuple[str, str]]
    list_b: list[tuple[str, str]]


def pair_design(options: Any) -> PairDesign:
    """Build a design of all pairs in which options are shown first equally often.

    With an odd number of options the balance is exact, with an even one the two numbers differ by
    one. In each round no option occurs twice. Give half the respondents `list_a`, the others
    `list_b`, and each a different order of pairs.

    Parameters
    ----------
    options : int or sequence of str
        Their number (3 or more), or their labels.

    Returns
    -------
    PairDesign
        `table` with columns round, first, second; `list_a`, the same as pairs; `list_b`, each pair
        reversed.

    Raises
    ------
    ArgumentError
        If there are fewer than three options.

    References
    ----------
    David (1988), The method of paired comparisons, section 5.2.

    Examples
    --------
    >>> pair_design(["tea", "milk", "juice"]).list_a
    [('juice', 'milk'), ('tea', 'juice'), ('milk', 'tea')]
    """
    import pandas as pd

    labels = check_design_labels(options, 3)
    round_pairs = [
        (r, a, b) for r, pairs in enumerate(schedule_rounds(len(labels)), start=1) for a, b in pairs
    ]
    pairs = [(labels[a], labels[b]) for _, a, b in round_pairs]
    table = pd.DataFrame(
        [(r, *pair) for (r, _, _), pair in zip(round_pairs, pairs, strict=True)],
        columns=["round", "first", "second"],
    )
    note = (
        f"{format_plural(len(labels), 'option')}, {format_plural(len(pairs), 'pair')}; list_b"
        " contains every pair in reverse order."
    )
    return PairDesign(
        "Balanced paired-comparison design", table, note, pairs, [(b, a) for a, b in pairs]
    )
