"""The posterior for ArviZ before 1.0, which does not compute with trees."""

from typing import TYPE_CHECKING, Any

from thali.errors import ArgumentError

if TYPE_CHECKING:
    import xarray

_GROUPS = (
    "posterior",
    "posterior_predictive",
    "log_likelihood",
    "log_prior",
    "sample_stats",
    "prior",
    "prior_predictive",
    "observed_data",
    "constant_data",
)


def to_inference_data(tree: "xarray.DataTree") -> Any:
    """An `arviz.InferenceData` of the groups that ArviZ knows, without empty arrays, which it cannot draw."""
    try:
        import arviz  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ArgumentError("to_inference_data needs ArviZ before 1.0; pip install 'arviz<1'.") from error
    if not hasattr(arviz, "InferenceData"):
        raise ArgumentError(
            f"ArviZ {arviz.__version__} has no InferenceData; pass the tree itself, posterior_, to its functions."
        )
    groups = {name: _without_empty(tree[name].to_dataset()) for name in _GROUPS if name in tree.children}
    return arviz.InferenceData(attrs=dict(tree.attrs), **groups)


def _without_empty(group: "xarray.Dataset") -> "xarray.Dataset":
    return group.drop_vars([name for name, values in group.variables.items() if values.size == 0])
