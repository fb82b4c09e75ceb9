"""Parts of arrays in compiled code: part k is the entries from bounds[k] to bounds[k + 1]."""

from typing import Any

from thali._compile.jit import scalar


@scalar
def part_range(bounds: Any, k: Any) -> Any:
    """Return the range of the entries of part k."""
    return range(bounds[k], bounds[k + 1])


@scalar
def part_size(bounds: Any, k: Any) -> Any:
    """Return the number of entries of part k."""
    return bounds[k + 1] - bounds[k]


@scalar
def part_ends(bounds: Any, k: Any) -> tuple[Any, Any]:
    """Return the index of the first entry of part k, and the index after its last entry."""
    return bounds[k], bounds[k + 1]
