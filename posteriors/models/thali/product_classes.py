"""Product classes with monotone attributes.

The model of the page "Product classes with monotone attributes" of thali's documentation, with a
lapse of 0.02.
"""

import pandas as pd

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    experiment = th.ChoiceExperiment.from_frame(pd.DataFrame(data["rows"]), levels=data["levels"])
    return th.ProductClasses(monotone=data["monotone"]).fit(experiment, **run)
