"""Run ArviZ's functions on its own example and on every model, in whatever environment runs this
file; prints JSON."""

import json
import warnings

import arviz
import matplotlib
from matplotlib import pyplot

from helpers import tiny_models

WITHOUT_PRIOR = ("nonnegative-dimensions", "nonnegative-dimensions, triplets")
NEW = arviz.__version__.partition(".")[0] != "0"


def functions(data, name):
    """The functions of this ArviZ, by name, each to be called without arguments."""
    variable = "log_likelihood" if name != "example" else "mu"
    both = {
        "summary": lambda: arviz.summary(data),
        "loo": lambda: arviz.loo(data),
        "plot_rank": lambda: arviz.plot_rank(data, var_names=[variable]),
        "plot_forest": lambda: arviz.plot_forest(data),
    }
    if not NEW:
        observed = next(iter(data.observed_data.data_vars))
        return both | {
            "plot_ppc": lambda: arviz.plot_ppc(data),
            "plot_ppc of the prior": lambda: arviz.plot_ppc(data, group="prior"),
            "plot_loo_pit": lambda: arviz.plot_loo_pit(data, y=observed),
            "plot_trace": lambda: arviz.plot_trace(data, var_names=[variable]),
        }
    return both | {
        "plot_ppc_dist": lambda: arviz.plot_ppc_dist(data),
        "plot_ppc_dist of the prior": lambda: arviz.plot_ppc_dist(data, group="prior_predictive"),
        "plot_ppc_pit": lambda: arviz.plot_ppc_pit(data),
        "plot_loo_pit": lambda: arviz.plot_loo_pit(data),
        "psense_summary": lambda: arviz.psense_summary(data),
    }


def outcome(function):
    """None, or the error."""
    try:
        function()
    except Exception as error:  # of ArviZ, which promises no kind of error
        return f"{type(error).__name__}: {error}"
    finally:
        pyplot.close("all")
    return None


def of_model(name, tiny):
    """The data of a fitted model as this ArviZ takes them, with replicates and the prior."""
    longer = {"draws": 100, "tune": 50}
    model = tiny.build_fitted(**longer)
    tree = model.posterior_predictive(*tiny.data(), random_seed=1)
    if name not in WITHOUT_PRIOR:
        prior = model.sample_prior(*tiny.data(), 100, 2)
        for group in ("prior", "prior_predictive"):
            tree[group] = prior[group]
    return tree if NEW else model.to_inference_data(tree)


def main():
    """Print the version of ArviZ, and the outcome of each function for the example and for each
    model."""
    matplotlib.use("Agg")
    if NEW:
        arviz.rcParams["plot.backend"] = "matplotlib"
    tiny = tiny_models.TINY
    drawn = {name: each for name, each in tiny.items() if each.has_chains}
    data = {"example": arviz.load_arviz_data("centered_eight")} | {
        name: of_model(name, tiny) for name, tiny in drawn.items()
    }
    found = {
        name: {title: outcome(function) for title, function in functions(each, name).items()}
        for name, each in data.items()
    }
    print(json.dumps({"version": arviz.__version__, "found": found}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
