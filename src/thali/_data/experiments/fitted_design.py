"""The parts of a choice experiment's data that predictions and reports need after the fit."""

import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._number_format import format_percent
from thali._object_descriptions import Facts

from ..prediction_scores import find_chosen_rows
from ..report_facts import format_value_range, list_name_facts

if TYPE_CHECKING:
    import xarray

    from . import ChoiceExperiment
    from .product_encoding import Scheme


# the arrays of a design, and the names of their dimensions in a posterior
_DIMENSIONS = {
    "products": ("product", "attribute"),
    "first_task": ("respondent_end",),
    "first_row": ("task_end",),
    "row_product": ("row",),
    "chosen": ("task",),
}


class ExperimentDesign(NamedTuple):
    """Respondents, products seen and attribute scheme of the fitted choice experiment."""

    scheme: "Scheme"
    respondents: tuple[str, ...]
    products: np.ndarray  # (P, L) level numbers in natural order, -1 where an attribute is missing
    first_task: np.ndarray  # (N + 1,)
    first_row: np.ndarray  # (tasks + 1,)
    row_product: np.ndarray  # (rows,)
    chosen: np.ndarray  # (tasks,) row, counted from the task's first

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the attributes, "inside" first if there is one."""
        return self.scheme.names

    @property
    def inside(self) -> int:
        """Index of the attribute "inside" (a product, not "none"); -1 without it."""
        if self.scheme.has_inside:
            return 0
        return -1

    @property
    def never_missing(self) -> np.ndarray:
        """Whether each attribute has a level in every product, shape (attributes,)."""
        return np.all(self.products >= 0, axis=0)

    def _facts(self) -> Facts:
        """Return (name, text) facts about the experiment for a report."""
        return list_experiment_facts(self)

    def observed(self) -> "xarray.Dataset":
        """Return the observed choices as the posterior's group `observed_data`."""
        import xarray as xr

        description = {"description": "position of the chosen alternative in its task"}
        return xr.Dataset({"chosen": ("task", self.chosen, description)})

    def to_dataset(self) -> "xarray.Dataset":
        """Return the design as the posterior's group `constant_data`."""
        import xarray as xr

        variables = {
            name: (dimension_names, getattr(self, name))
            for name, dimension_names in _DIMENSIONS.items()
        }
        coordinates = {
            "respondent": np.asarray(self.respondents, str),
            "attribute": np.asarray(self.attributes, str),
        }
        return xr.Dataset(
            variables, coordinates, attrs={"scheme": json.dumps(self.scheme.to_dict())}
        )


def build_design(data: "ChoiceExperiment") -> ExperimentDesign:
    """Copy the design (respondents, tasks, products, scheme) from the data."""
    return ExperimentDesign(
        data.scheme,
        tuple(data.respondents),
        *(np.array(getattr(data, name), np.int64) for name in _DIMENSIONS),
    )


def read_design(dataset: "xarray.Dataset") -> ExperimentDesign:
    """Read the design from the posterior's group `constant_data`."""
    from .product_encoding import Scheme

    return ExperimentDesign(
        Scheme.from_dict(json.loads(dataset.attrs["scheme"])),
        tuple(map(str, dataset["respondent"].values)),
        *(np.array(dataset[name].values, np.int64) for name in _DIMENSIONS),
    )


def list_experiment_facts(data: "ChoiceExperiment | ExperimentDesign") -> Facts:
    """Return (name, text) facts about an experiment for a report."""
    is_none = data.scheme.find_none_products(data.products)
    none_fact = ()
    if data.scheme.none:
        chosen_products = data.row_product[find_chosen_rows(data)]
        none_fact = (
            (
                "No-choice option",
                f"chosen in {format_percent(is_none[chosen_products].mean(), 1)} of the tasks",
            ),
        )
    return (
        ("Respondents", f"{len(data.respondents):,}"),
        (
            "Tasks per respondent",
            f"{format_value_range(np.diff(data.first_task))}, {len(data.chosen):,} in total",
        ),
        ("Alternatives per task", format_value_range(np.diff(data.first_row))),
        ("Different products", f"{len(data.products) - int(is_none.sum()):,}"),
        *none_fact,
        *list_name_facts("Always chose the same position", find_straightliners(data)),
        *data.scheme.describe_attributes(),
    )


_MAX_CHANCE = 0.01  # that random answers of a respondent all have the same position


def find_straightliners(data: "ChoiceExperiment | ExperimentDesign") -> list[str]:
    """Return respondents whose choices all have the same position, too often for chance."""
    sizes = np.diff(data.first_row)
    straightliners = []
    if data.chosen.min(initial=0) < 0:  # ratings without choices
        return straightliners
    for respondent, first, last in zip(
        data.respondents, data.first_task, data.first_task[1:], strict=False
    ):
        chance = float(np.prod(1.0 / sizes[first + 1 : last]))
        if np.ptp(data.chosen[first:last]) == 0 and chance < _MAX_CHANCE:
            straightliners.append(respondent)
    return straightliners
