"""Five studies of choices by the multinomial logit: coefficients, willingness to pay, and another
program's errors, all choices independent.

    python benchmarks/multinomial_logit_studies.py [FOLDER]

FOLDER holds dce_camera/choices.csv, dce_electricity/choices.csv, dce_swissroute/choices.csv,
choice_yogurt/yogurt.csv and choice_travelmode/travelmode.csv. Without it a simulated study of
cameras is analysed. Where statsmodels is installed, its conditional logit of the same columns says
by how much amounts and standard errors differ.
"""

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import thali as th


class Study(NamedTuple):
    """A table, how it is read, and which attributes are numbers."""

    file: str
    read: Callable[[pd.DataFrame], th.ChoiceExperiment]
    price: str
    arguments: dict[str, Any]


def travel(table: pd.DataFrame) -> th.ChoiceExperiment:
    """Four means of transport, of which a train, a bus and a plane have a waiting time."""
    named = table.assign(mode=table["mode"].map({1: "air", 2: "train", 3: "bus", 4: "car"}), task=1)
    columns = {
        "respondent": "individual",
        "task": "task",
        "alternative": "mode",
        "chosen": "choice",
    }
    return th.ChoiceExperiment.from_frame(named, **columns, attributes=["ttme", "invc", "invt"])


def reader(**settings: Any) -> Callable[[pd.DataFrame], th.ChoiceExperiment]:
    """As `ChoiceExperiment.from_frame` with these settings."""
    return lambda table: th.ChoiceExperiment.from_frame(table, **settings)


STUDIES = {
    "camera": Study(
        "dce_camera/choices.csv", reader(none={"brand": "none"}), "price", {"linear": ["price"]}
    ),
    "electricity": Study(
        "dce_electricity/choices.csv",
        reader(attributes=["pf", "cl", "loc", "wk", "tod", "seas"]),
        "pf",
        {"linear": ["pf", "cl"]},
    ),
    "swissroute": Study(
        "dce_swissroute/choices.csv",
        reader(attributes=["tt", "tc", "hw", "ch"]),
        "tc",
        {"linear": ["tt", "tc", "hw", "ch"]},
    ),
    "yogurt": Study("choice_yogurt/yogurt.csv", reader(), "price", {"linear": ["price"]}),
    "travel mode": Study(
        "choice_travelmode/travelmode.csv",
        travel,
        "invc",
        {"linear": ["ttme", "invc", "invt"], "constants": True},
    ),
}


def analysed(read: Callable[[], th.ChoiceExperiment], price: str, arguments: dict[str, Any]) -> str:
    """What the logit says of a study."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", th.errors.DataWarning)  # numbers of many levels
        data = read()
        model = th.MultinomialLogit(**arguments, people="independent").fit(data)
    amounts = model.willingness_to_pay(price)
    lines = [f"log-likelihood {model.log_likelihood_:.2f}; amounts in units of {price}"]
    for row in amounts.to_dict("records"):
        of = f"{row['attribute']} {row['level']}" + (f" over {row['over']}" if row["over"] else "")
        lines.append(f"  {of:32} {row['wtp']:9.4f} ({row['wtp_se']:.4f})")
    return "\n".join([*lines, compared(model, price, amounts)])


def compared(model: th.MultinomialLogit, price: str, amounts: pd.DataFrame) -> str:
    """By how much amounts and standard errors differ from those of statsmodels' estimates, by the
    delta method."""
    try:
        from statsmodels.discrete.conditional_models import ConditionalLogit
    except ImportError:
        return "  statsmodels is not installed"
    data = model._get_fit_data()
    matrix = model._coding_.encode_codes(data.products)[data.row_product]
    task = np.repeat(np.arange(data.n_tasks), np.diff(data.first_row))
    chosen = np.zeros(len(task))
    chosen[data.first_row[:-1] + data.chosen] = 1
    fit = ConditionalLogit(chosen, matrix, groups=task).fit(
        method="newton", disp=False, maxiter=100
    )
    beta, covariance = np.asarray(fit.params), np.asarray(fit.cov_params())
    names = list(model.coef_.index)
    worst = np.zeros(2)
    for row in amounts.to_dict("records"):
        name = f"{row['attribute']}[{row['level']}]" if row["over"] else row["attribute"]
        k, p = names.index(name), names.index(price)
        slope = np.zeros(len(beta))
        slope[k], slope[p] = -1.0 / beta[p], beta[k] / beta[p] ** 2
        error = np.sqrt(slope @ covariance @ slope)
        worst = np.maximum(
            worst, [abs(row["wtp"] * beta[p] / beta[k] + 1.0), abs(row["wtp_se"] / error - 1.0)]
        )
    return (
        f"  relative difference to statsmodels: amounts {worst[0]:.0e}, standard errors"
        f" {worst[1]:.0e}"
    )


def main(folder: Path | None = None, small: bool = False) -> None:
    """Print the studies."""
    if folder is None or small:
        study = th.datasets.product_choices(people=40, tasks=8, random_seed=1)
        print("simulated", analysed(lambda: study.data, "price", {"linear": ["price"]}), sep="\n")
        return
    for name, study in STUDIES.items():
        read = partial(_read, study, folder / study.file)
        print(name, analysed(read, study.price, study.arguments), sep="\n")


def _read(study: Study, path: Path) -> th.ChoiceExperiment:
    return study.read(pd.read_csv(path))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--small", action="store_true")
    main(**vars(parser.parse_args()))
