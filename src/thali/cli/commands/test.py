"""`thali test`: classical tests of paired comparisons."""

from thali._labels import suggest
from thali.data.kinds import PAIRS
from thali.errors import ArgumentError
from thali.model.options import TIES

from ..boundary import notify

TESTS = {"transitivity": "transitivity", "circular": "circular_triads", "agreement": "agreement"}


def run_test(name: str, data_name: str, ties: str | None = None) -> None:
    """Print the table of a test.

    Parameters
    ----------
    name : str
        One of `TESTS`.
    data_name : str
        A bundled data set or a file of paired comparisons.
    ties : {"half", "drop"}, optional
        What a tie counts.

    Raises
    ------
    ThaliError
        If there is no such test, or the data cannot be used for it.
    """
    if name not in TESTS:
        raise ArgumentError(f"There is no test {name!r}; there are {', '.join(TESTS)}.{suggest(name, list(TESTS))}")
    from thali import paired

    from ..loading import find_data, load
    from ..models import model_for
    from ..values import value_of

    wanted = {} if ties is None else {"ties": value_of(TIES, ties)}
    data, recognised = load(find_data(data_name), model_for(PAIRS), wanted)
    notify(f"{data_name}: {recognised}")
    print(getattr(paired, TESTS[name])(data))
