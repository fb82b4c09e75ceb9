"""The log-likelihood, the prior and the pointwise terms that a fit keeps of its draws are those of
the definition.

One table: a model and its data; kernels run as Python.
"""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from helpers.all_drawn import all_drawn
from helpers.naive import latent_features as naive
from helpers.problems import random_comparisons, random_similarities, unequal, with_ties
from helpers.set_problems import random_choices
from helpers.triplet_problems import LAPSE, LINKS, MIXED

import thali as th

pytestmark = [
    pytest.mark.fit,
    pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning"),
    pytest.mark.usefixtures("uncompiled"),
]

RUN = {"draws": 4, "tune": 2, "thin": 1, "chains": 2, "random_seed": 1, "progressbar": False}


def trials(outcomes):
    """Comparisons of four options with two covariates, one of which is the order."""
    rng, labels = np.random.default_rng(5), np.array(list("abcd"))
    i = rng.integers(0, 4, 60)
    frame = pd.DataFrame({"left": labels[i], "right": labels[(i + rng.integers(1, 4, 60)) % 4]})
    frame = frame.assign(chosen=rng.choice(outcomes, 60), longer=rng.integers(-1, 2, 60))
    return th.PairedComparisons.from_trials(
        frame, covariates=["order", "longer"], labels=list(labels)
    )


TIED = with_ties(random_comparisons(5, 5), 1)
COVARIATES = trials(["left", "right"])
ELIMINATION, UNIQUE = (
    partial(th.EliminationByAspects, tempering=False),
    partial(th.EliminationByAspects, "unique"),
)
ROWS = {
    "pairs": (ELIMINATION, random_comparisons(5, 5)),
    "ties": (ELIMINATION, TIED),
    "covariates": (ELIMINATION, COVARIATES),
    "ties and covariates": (UNIQUE, trials(["left", "right", "tie"])),
    "sets": (ELIMINATION, random_choices(4, (2, 3, 4), 1)),
    "similarities": (th.AdditiveClustering, random_similarities(4, 1, judgements=unequal(4))),
    **{
        f"triplets, {link}": (
            partial(th.AdditiveClustering, link=link, lapse=LAPSE, alpha=1.5),
            MIXED,
        )
        for link in LINKS
    },
}


def by_definition(model, data, at):
    """The log-likelihood of a draw, without the coefficients of counts."""
    features = (
        at["features"].values.T.astype(bool)
        if "features" in at
        else np.zeros((data.n_options, 0), bool)
    )
    weights = at["weights"].values if "features" in at else np.zeros(0)
    if isinstance(data, th.Similarities):
        constant, sigma = float(at["constant"]), float(at["sigma"])
        return naive.additive_log_likelihood(data, features, weights, constant, sigma)
    if isinstance(data, th.Triplets):
        constant = float(at["constant"]) if model.link == "ratio" else 0.0
        return naive.triplet_log_likelihood(data, features, weights, model.link, constant, LAPSE)
    more = {}
    if "covariate" in at:
        more["beta"] = at["covariate"].values
    if "tie" in at:
        more["tie"] = float(at["tie"])
    unique = at["unique_weights"].values
    return naive.log_likelihood(data, features, weights, unique, model._view.lapse, **more)


def log_coefficients(data):
    """Of the counts of each comparison or set: how many orders they may have come in."""
    if isinstance(data, th.Similarities):
        return 0.0
    if isinstance(data, th.PairedComparisons):
        cells = data.cells if data.covariates else data
        rows = zip(
            cells.wins, cells.losses, cells.tied if data.n_ties else 0.0 * cells.wins, strict=True
        )
    else:
        rows = np.split(data.counts, data.start[1:-1])
    return sum(math.lgamma(sum(row) + 1) - sum(math.lgamma(n + 1) for n in row) for row in rows)


@pytest.mark.parametrize("name", ROWS)
def test_the_log_likelihood_is_that_of_naive_evaluations(name):
    make, data = ROWS[name]
    model = make().fit(data, **RUN)
    tree = model.posterior_
    posterior = all_drawn(tree)
    for chain, draw in np.ndindex(2, 4):
        at = posterior.isel(chain=chain, draw=draw)
        total = by_definition(model, data, at) + log_coefficients(data)
        assert float(at["log_likelihood"]) == pytest.approx(total, rel=1e-9)
    (terms,) = tree["log_likelihood"].data_vars.values()
    whole = terms.sum([dim for dim in terms.dims if dim not in ("chain", "draw")])
    np.testing.assert_allclose(whole, posterior["log_likelihood"], rtol=1e-9)
    log_prior = tree["log_prior"].dataset if "log_prior" in tree.children else {}
    if "covariates" in name:
        beta = posterior["covariate"].values
        np.testing.assert_allclose(
            log_prior["covariate"], -0.5 * (beta**2).sum(-1) - np.log(2 * np.pi)
        )
    if name == "triplets, ratio":
        np.testing.assert_allclose(log_prior["constant"], -posterior["constant"])
