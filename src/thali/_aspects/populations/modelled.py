"""What no population but that of one group is fitted to: everything else is, by the names in its `DataSpec`."""

from thali.errors import DataError


def refuse_groups_of_own() -> None:
    """Raise where an open combination meets groups of people, which it is not fitted to."""
    raise DataError(
        "A prior joined with a likelihood is fitted to the data of one group of people, and these are of several; fit "
        "it to each, or take EliminationByAspects or AdditiveClustering."
    )
