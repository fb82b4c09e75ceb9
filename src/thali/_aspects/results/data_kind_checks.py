"""Raise ArgumentError for results that the data kind of a posterior rules out."""

from thali._data.kinds import OWN
from thali._posterior.posterior_tree import Posterior
from thali.errors import ArgumentError


def require_known_likelihood(posterior: Posterior, answer_name: str) -> Posterior:
    """Return the posterior; raise ArgumentError for a custom likelihood.

    The error names the requested answer, `answer_name`.
    """
    if posterior.data_kind == OWN:
        raise ArgumentError(
            f"{answer_name} is not available for a custom likelihood, because thali does"
            " not know how to compute its predictions; compute them from"
            " posterior_['latent_features']['features'] and"
            " posterior_['latent_features']['weights']."
        )
    return posterior


def require_choices(posterior: Posterior, answer_name: str) -> Posterior:
    """Raise ArgumentError unless the data are choices; return the posterior."""
    if not require_known_likelihood(posterior, answer_name).facts.of_choices:
        raise requires_choices_error(posterior, answer_name)
    return posterior


def requires_choices_error(posterior: Posterior, answer_name: str) -> ArgumentError:
    """Return the ArgumentError of a result that requires choices."""
    require_known_likelihood(posterior, answer_name)
    return ArgumentError(
        f"{answer_name} requires a model fitted to choices; this model was fitted to"
        f" {posterior.data_kind}. Use features(), and posterior_['posterior']['similarity'] for"
        " predictions."
    )


def require_data_kind(required_kind: str, posterior: Posterior, answer_name: str) -> Posterior:
    """Raise ArgumentError unless the data are of this kind; return the posterior."""
    data_kind = require_known_likelihood(posterior, answer_name).data_kind
    if data_kind != required_kind:
        raise ArgumentError(
            f"{answer_name} requires a model fitted to {required_kind}; this model was fitted to"
            f" {data_kind}."
        )
    return posterior
