"""What is summarised of a posterior: functionals of a draw that do not depend on the order of its
features."""

import numpy as np

from thali._aspects.results.feature_table import find_presence

# By the beginning of the names, up to a bracket.
MEANINGS = {
    "n_features": "number of columns of f with an owner; weights u are not counted",
    "n_shared_features": "number of columns of f with two owners or more",
    "presence": "1 if some column of f has exactly these owners, else 0",
    "alpha": "concentration of the prior",
    "log_likelihood": "of the whole data, natural logarithm, binomial coefficients included where"
    " there are any",
    "choice_probability": "p of the model: the first option is chosen over the second, lapses"
    " included",
    "set_probability": "probability that the first option is chosen out of the set after the bar,"
    " lapses included",
    "worth": "sum of the weights of an option, divided by the sum of these sums over all options",
    "rank": "rank of an option by worth, 1 the highest",
    "tie": "nu",
    "spread": "standard deviation of log worths",
    "similarity": "mean of the similarity of two objects",
    "constant": "c",
    "sigma": "standard deviation of a similarity",
    "shared_weight": "sum of the weights of the features that both have",
    "a": "shape of the prior of l",
    "logit": "log odds of the class that row i of the data is in (rows from 0)",
    "covariate": "beta of a covariate of a comparison",
    "eta": "square of the rate of the Laplace prior",
    "coef": "beta of a class and a covariate (x0, x1, ...), standardised",
    "share": "mean over the tasks of the data of the probability that a product with this level is"
    " chosen",
    "effect": "mean over the people of the probability of preferring the first level, all else"
    " being equal",
    "mean": "mu of a coefficient",
    "n_classes": "classes that somebody owns",
    "classes_per_person": "mean over the people of the number of classes that a person owns",
    "value_shape": "shape of the values of classes",
    "stability": "sigma, the share of a value that stays from task to task",
    "log_discrimination": "log d of a judge",
    "judge_sd": "tau",
    "probability_in_time": "p of the model: the first option is chosen over the second in the"
    " season, lapses included",
    "drift": "s",
}
_SCALARS = (
    "n_features",
    "n_shared_features",
    "n_classes",
    "classes_per_person",
    "value_shape",
    "stability",
    "alpha",
)
_MOST, _LEAST_PROBABILITY = 30, 0.1  # of the presences that a reference has


def functionals(fitted, names=None):
    """Draws of the functionals of a fitted model, as a dictionary of arrays (chain, draw).

    names: those that are wanted; None: all that vary, with the presence of each feature that is
    probable enough.
    """
    tree = fitted.posterior_
    posterior = tree["posterior"].to_dataset()
    if "latent_features" in tree:
        posterior = posterior.merge(tree["latent_features"].to_dataset())
    found = {
        name: draws
        for name, draws in fitted._get_quantities().items()
        if not name.startswith("presence[")
    }
    for name in (*_SCALARS, "log_likelihood"):
        if name in posterior and not (name == "alpha" and _is_fixed(fitted, name)):
            found[name] = posterior[name].values
    if "mean" in posterior:
        for k, label in enumerate(posterior["coefficient"].values):
            found[f"mean[{label}]"] = posterior["mean"].values[..., k]
    if "features" in posterior:
        found |= _of_features(posterior, fitted, names)
    found = {name: np.asarray(draws, float) for name, draws in found.items()}
    if names is None:
        return {name: draws for name, draws in found.items() if np.ptp(draws) > 0}
    return {name: found[name] for name in names}


def _of_features(posterior, fitted, names):
    """Presences, and sums over shared features of pairs where the data are similarities or the
    user's own."""
    found = {}
    if "similarity" in posterior:
        pairs = zip(posterior["option_a"].values, posterior["option_b"].values, strict=True)
        found = {
            f"similarity[{a}, {b}]": posterior["similarity"].values[..., i]
            for i, (a, b) in enumerate(pairs)
        }
    elif "choice_probability" not in posterior:
        labels = posterior["option"].values
        features, weights = posterior["features"].values, posterior["weights"].values
        for i, a in enumerate(labels):
            for j in range(i + 1, len(labels)):
                shared = (weights * features[..., i] * features[..., j]).sum(axis=-1)
                found[f"shared_weight[{a}, {labels[j]}]"] = shared
    if names is None:
        table = fitted.features(min_probability=_LEAST_PROBABILITY)["members"]
        members = [owners for owners in table if 1 < len(owners) < posterior.sizes["option"]][
            :_MOST
        ]
    else:
        members = [tuple(name[9:-1].split(", ")) for name in names if name.startswith("presence[")]
    present = find_presence(fitted._view, members) if members else []
    return found | {
        f"presence[{', '.join(owners)}]": each
        for owners, each in zip(members, present, strict=True)
    }


def _is_fixed(fitted, name):
    """Whether all draws of a scalar have the same value, or the model has no use for it."""
    draws = fitted.posterior_["posterior"].dataset[name].values
    constant = fitted.posterior_["constant_data"].dataset
    return np.ptp(draws) == 0 or ("learned_alpha" in constant and not constant["learned_alpha"])
