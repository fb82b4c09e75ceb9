"""`thali test`: classical tests of paired comparisons."""

from thali.cli.boundary import tell
from thali.data.check import suggest
from thali.errors import ArgumentError

TESTS = {"transitivity": "transitivity", "circular": "circular_triads", "agreement": "agreement"}


def run_test(name: str, data_name: str) -> None:
    """Print the table of a test.

    Parameters
    ----------
    name : str
        One of `TESTS`.
    data_name : str
        A bundled data set or a file of paired comparisons.

    Raises
    ------
    ThaliError
        If there is no such test, or the data cannot be used for it.
    """
    if name not in TESTS:
        raise ArgumentError(f"There is no test {name!r}; there are {', '.join(TESTS)}.{suggest(name, list(TESTS))}")
    from thali import paired
    from thali.cli.loading import find_data, load_data
    from thali.cli.models import CHOICES

    data, recognised = load_data(find_data(data_name), CHOICES)
    tell(f"{data_name}: {recognised}")
    print(getattr(paired, TESTS[name])(data))
