"""Nested logits beside what others print, digit by digit.

    python benchmarks/nested_logit.py FOLDER [HC.csv JapaneseFDI.csv]

FOLDER holds choice_travelmode/travelmode.csv (as ../shared/data). The two tables are those of R's mlogit, written by
write.csv(mlogit::HC, "HC.csv", row.names = FALSE) and the same of JapaneseFDI.

Beside biogeme 3.3.2 (`biogeme_peer.py`: the travel modes in a nest of train, bus and car, air without a parameter of
its own): log-likelihood -194.943939439 here and -194.943939449 there, estimates equal to four digits or more; .15 CPU
seconds here with reading the table, 13.0 there, with what it compiles, and 2.8 to import it.
"""

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar

import thali as th

GREENE = {  # Greene (2003), Econometric analysis, 5th edition, table 21.14: full-information maximum likelihood
    "air": 6.042,
    "bus": 4.096,
    "train": 5.065,
    "gc": -0.03159,
    "ttme": -0.1126,
    "income": 0.01533,
    "tau of air": 0.5860,
    "tau of the ground": 0.3890,
    "log-likelihood": -193.6561,
}
FDI = {  # mlogit 2.0-0, vignette "Logit models relaxing the iid hypothesis", table of the last section, last column
    **{"lwage": 0.766, "unemp": -6.953, "elig": -0.185, "larea": 0.146, "scrate": -0.875, "ctaxrate": -2.351},
    **{"BE": 0.485, "DE": 0.523, "ES": 0.766, "FR": 0.672, "IT": 0.254, "NL": 0.176, "UK": 0.857},
    "likelihood ratio": 50.122,
}
HC = {
    "cooling": 0.60,
    "other": 0.45,
    "likelihood ratio of two dissimilarities for one": 0.63,
}  # vignette "Exercise 2"
ONE = -178.1247  # its log-likelihood with one dissimilarity for both nests


def show(title: str, published: dict[str, float], found: dict[str, float], seconds: float) -> None:
    """Figures beside each other, the digits of the published ones."""
    print(f"\n{title} ({seconds:.2f} CPU s)")
    for name, value in published.items():
        digits = len(f"{value!r}".partition(".")[2])
        own = round(found[name], digits)
        print(f"  {name:48} {value:>12} {own:>12} {'' if own == value else 'DIFFERS'}")


def greene(folder: Path) -> None:
    """Air, a nest by itself, has a parameter there that multiplies its utility without the income."""
    rows = pd.read_csv(folder / "choice_travelmode/travelmode.csv")
    rows["mode"] = np.array(["", "air", "train", "bus", "car"])[rows["mode"]]
    rows["income"] = rows["hinc"] * (rows["mode"] == "air")
    names = ["gc", "ttme", "income", "air", "bus", "train"]

    def fit(ratio: float) -> th.MultinomialLogit:
        factor = np.where(rows["mode"] == "air", ratio, 1.0)
        own = rows.assign(gc=rows["gc"] * factor, ttme=rows["ttme"] * factor, task=1)
        own = own.assign(**{name: (own["mode"] == name) * factor for name in ("air", "bus", "train")})
        data = th.ChoiceExperiment.from_frame(
            own, respondent="individual", alternative="mode", chosen="choice", attributes=names
        )
        return th.MultinomialLogit(linear=names, nests={"ground": ["train", "bus", "car"]}).fit(data)

    start = time.process_time()
    best: Any = minimize_scalar(lambda ratio: -fit(ratio).log_likelihood_, bracket=(1.4, 1.6), tol=1e-6)
    model = fit(best.x)
    tau = model._nests()["ground"]
    coef = model.coef_.to_dict()
    found = {name: coef[name] / (1.0 if name == "income" else tau) for name in names}
    found |= {"tau of air": tau * best.x, "tau of the ground": tau, "log-likelihood": model.log_likelihood_}
    show("Travel mode: Greene", GREENE, found, time.process_time() - start)


def japanese(file: str) -> None:
    """Regions of Europe in which Japanese firms invest, in nests by country."""
    rows = pd.read_csv(file).assign(task=1)
    rows = rows.assign(lwage=np.log(rows["wage"]), larea=np.log(rows["area"]))
    regions = {country: sorted(set(own["region"])) for country, own in rows.groupby("country")}
    names = list(FDI)[:6]
    data = th.ChoiceExperiment.from_frame(
        rows, respondent="firm", alternative="region", chosen="choice", attributes=names
    )
    start = time.process_time()
    model = th.MultinomialLogit(linear=names, nests={k: own for k, own in regions.items() if len(own) > 1}).fit(data)
    found = {**model.coef_.to_dict(), **model._nests(), "likelihood ratio": model.nest_table().attrs["statistic"]}
    show("Japanese firms: mlogit", FDI, found, time.process_time() - start)


def cooling(file: str) -> None:
    """Systems of heating and cooling, in a nest each with and without cooling."""
    wide, rows, names = pd.read_csv(file), [], ["ich", "och", "icca", "occa", "room", "cool", "cooling"]
    for house, row in wide.iterrows():
        for system in ("gcc", "ecc", "erc", "hpc", "gc", "ec", "er"):
            cools, room = system in ("gcc", "ecc", "erc", "hpc"), system in ("erc", "er")
            own = {"ich": row[f"ich.{system}"], "och": row[f"och.{system}"], "icca": cools * row["icca"]}
            own |= {"occa": cools * row["occa"], "room": room * row["income"], "cool": cools * row["income"]}
            chosen = int(system == row["depvar"])
            rows.append({"id": house, "task": 1, "alt": system, "choice": chosen, **own, "cooling": int(cools)})
    data = th.ChoiceExperiment.from_frame(pd.DataFrame(rows), attributes=names)
    nests = {"cooling": ["gcc", "ecc", "erc", "hpc"], "other": ["gc", "ec", "er"]}
    start = time.process_time()
    model = th.MultinomialLogit(linear=names, nests=nests).fit(data)
    found = model._nests() | {list(HC)[-1]: 2 * (model.log_likelihood_ - ONE)}
    show("Heating and cooling: mlogit", HC, found, time.process_time() - start)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    greene(Path(sys.argv[1]))
    if len(sys.argv) > 3:
        cooling(sys.argv[2])
        japanese(sys.argv[3])
