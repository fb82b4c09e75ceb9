"""What no population but that of one group is fitted to: everything else is, by the names in its
`DataSpec`."""

from thali.errors import DataError


def refuse_groups_of_own() -> None:
    """Raise where an open combination meets groups of people, which it is not fitted to."""
    raise DataError(
        "A model built from a prior and a likelihood requires one group of respondents, but the"
        " data contain several; fit each group, or use EliminationByAspects or AdditiveClustering."
    )
