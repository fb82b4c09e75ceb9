"""Biogeme's latent classes, in an environment that has it (pip install biogeme "tomlkit<0.13").

    python biogeme_peer.py CHOICES

CHOICES is `amounts.simulated(300, 1)` as a table: two classes. Prints CPU seconds, the
log-likelihood and the estimates; those of thali stand in `latent_class_logit.py`.
"""

import sys
import time
import warnings
from pathlib import Path

import biogeme.biogeme as bio
import biogeme.database as db
import pandas as pd
from biogeme import models
from biogeme.expressions import Beta, PanelLikelihoodTrajectory, Variable, exp, log


def estimate(name, database, log_likelihood) -> None:
    """Maximise and print."""
    began = time.process_time()
    found = bio.BIOGEME(
        database, log_likelihood, generate_html=False, generate_yaml=False, save_iterations=False
    )
    found.model_name = name
    result = found.estimate()
    print(f"{name}: {time.process_time() - began:.1f} CPU s, {result.final_log_likelihood:.9f}")
    print("  ", {key: round(value, 6) for key, value in result.get_beta_values().items()})


def classes(file: Path) -> None:
    """Two classes of people."""
    rows = pd.read_csv(file)
    wide = rows.pivot_table(index=["id", "task"], columns="alt", values=["price", "zoom", "brand"])
    wide.columns = [f"{of}{alt}" for of, alt in wide.columns]
    wide["choice"] = rows[rows["choice"] == 1].set_index(["id", "task"])["alt"]
    database = db.Database("classes", wide.reset_index().astype(float))
    database.panel("id")

    def likelihood(k):
        price, zoom, brand = (
            Beta(f"{name} {k + 1}", value, None, None, 0) for name, value in START[k].items()
        )
        utility = {
            j: price * Variable(f"price{j}")
            + zoom * Variable(f"zoom{j}")
            + brand * Variable(f"brand{j}")
            for j in (1, 2, 3)
        }
        return PanelLikelihoodTrajectory(models.logit(utility, None, Variable("choice")))

    first = 1 / (1 + exp(-Beta("log odds of the first", 0, None, None, 0)))
    estimate("classes", database, log(first * likelihood(0) + (1 - first) * likelihood(1)))


START = ({"price": -0.05, "zoom": 0.0, "brand": 0.0}, {"price": -0.15, "zoom": 0.5, "brand": -0.5})

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    classes(Path(sys.argv[1]))
