"""Methods of a lower layer that a higher layer implements: the only upward imports, in one table."""

from importlib import import_module
from typing import Any

HOMES = {
    "Model.report": "thali.report.write:report",
    "Classifier.cross_validate": "thali.comparison.cross_validation:cross_validate",
    "Classifier.check_folds": "thali.comparison.cross_validation:check_folds",
    "Tree.plot": "thali.plots.tree:tree",
    "Tree.search": "thali.comparison.tree_search:search",
    "plot_path": "thali.plots.path:path",
    "plot_decision": "thali.plots.decision:decision",
    "plot_calibration": "thali.plots.calibration:calibration",
    "plot_coefficient_path": "thali.plots.coefficient_path:coefficient_path",
}


def carried_out_by(method: str) -> Any:
    """The function of a higher layer that carries out a method."""
    module, _, name = HOMES[method].partition(":")
    return getattr(import_module(module), name)
