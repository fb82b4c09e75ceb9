"""Biogeme's nested logit and latent classes, in an environment that has it (pip install biogeme "tomlkit<0.13").

    python biogeme_peer.py FOLDER CHOICES

FOLDER holds choice_travelmode/travelmode.csv (as ../shared/data): constants, cost, time at the terminal, income of
those who fly, a nest of train, bus and car. CHOICES is `amounts.simulated(300, 1)` as a table: two classes. Prints CPU
seconds, the log-likelihood and the estimates; those of thali stand in `nested_logit.py` and `latent_class.py`.
"""

import sys
import time
import warnings
from pathlib import Path

import biogeme.biogeme as bio
import biogeme.database as db
import numpy as np
import pandas as pd
from biogeme import models
from biogeme.expressions import Beta, PanelLikelihoodTrajectory, Variable, exp, log
from biogeme.nests import NestsForNestedLogit, OneNestForNestedLogit

MODES = ("air", "train", "bus", "car")


def estimate(name, database, log_likelihood) -> None:
    """Maximise and print."""
    began = time.process_time()
    found = bio.BIOGEME(database, log_likelihood, generate_html=False, generate_yaml=False, save_iterations=False)
    found.model_name = name
    result = found.estimate()
    print(f"{name}: {time.process_time() - began:.1f} CPU s, {result.final_log_likelihood:.9f}")
    print("  ", {key: round(value, 6) for key, value in result.get_beta_values().items()})


def nested(file: Path) -> None:
    """Travel modes."""
    rows = pd.read_csv(file)
    rows["mode"] = np.array(["", *MODES])[rows["mode"]]
    wide = rows.pivot_table(index="individual", columns="mode", values=["gc", "ttme"])
    wide.columns = [f"{of}_{mode}" for of, mode in wide.columns]
    chosen = rows[rows["choice"] == 1].set_index("individual")["mode"].map(MODES.index) + 1
    wide = wide.assign(choice=chosen, hinc=rows.groupby("individual")["hinc"].first()).astype(float)
    cost, wait, income = (Beta(name, 0, None, None, 0) for name in ("gc", "ttme", "income"))
    utility = {}
    for j, mode in enumerate(MODES, 1):
        utility[j] = cost * Variable(f"gc_{mode}") + wait * Variable(f"ttme_{mode}")
        utility[j] += 0 if mode == "car" else Beta(mode, 0, None, None, 0)
    utility[1] += income * Variable("hinc")
    ground = OneNestForNestedLogit(Beta("1 / dissimilarity", 1.5, 1, 20, 0), [2, 3, 4], "ground")
    nests = NestsForNestedLogit(list(utility), (ground,))
    estimate("nested", db.Database("nested", wide), models.lognested(utility, None, nests, Variable("choice")))


def classes(file: Path) -> None:
    """Two classes of people."""
    rows = pd.read_csv(file)
    wide = rows.pivot_table(index=["id", "task"], columns="alt", values=["price", "zoom", "brand"])
    wide.columns = [f"{of}{alt}" for of, alt in wide.columns]
    wide["choice"] = rows[rows["choice"] == 1].set_index(["id", "task"])["alt"]
    database = db.Database("classes", wide.reset_index().astype(float))
    database.panel("id")

    def likelihood(k):
        price, zoom, brand = (Beta(f"{name} {k + 1}", value, None, None, 0) for name, value in START[k].items())
        utility = {
            j: price * Variable(f"price{j}") + zoom * Variable(f"zoom{j}") + brand * Variable(f"brand{j}")
            for j in (1, 2, 3)
        }
        return PanelLikelihoodTrajectory(models.logit(utility, None, Variable("choice")))

    first = 1 / (1 + exp(-Beta("log odds of the first", 0, None, None, 0)))
    estimate("classes", database, log(first * likelihood(0) + (1 - first) * likelihood(1)))


START = ({"price": -0.05, "zoom": 0.0, "brand": 0.0}, {"price": -0.15, "zoom": 0.5, "brand": -0.5})

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    nested(Path(sys.argv[1]) / "choice_travelmode/travelmode.csv")
    classes(Path(sys.argv[2]))
