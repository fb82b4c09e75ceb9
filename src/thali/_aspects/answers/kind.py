"""What is refused of a posterior because of its data or its people."""

from thali._data.kinds import OWN
from thali._posterior.view import Posterior
from thali.errors import ArgumentError


def of_known_data(posterior: Posterior, what: str) -> Posterior:
    """The posterior; an ArgumentError names what was asked for if it is of no data of one group
    that thali knows."""
    if posterior.data_kind == OWN:
        raise ArgumentError(
            f"{what} is not available for a custom likelihood, whose predictions thali does not"
            " know; compute it from posterior_['latent_features']['features'] and ['weights']."
        )
    if posterior.groups:
        first = posterior.groups[0]
        raise ArgumentError(
            f"{what} requires one group of respondents; use the model of one group, such as"
            f" of_group({first!r})."
        )
    if posterior.has_classes:
        raise ArgumentError(
            f"{what} requires one latent class; use the model of one class, such as"
            " respondents.of_class(1)."
        )
    return posterior


def of_choices(posterior: Posterior, what: str) -> Posterior:
    """The posterior; an ArgumentError names what was asked for if it is not of choices."""
    if not of_known_data(posterior, what).facts.of_choices:
        raise not_of_choices(posterior, what)
    return posterior


def not_of_choices(posterior: Posterior, what: str) -> ArgumentError:
    """The error of what only choices of one group have."""
    of_known_data(posterior, what)
    return ArgumentError(
        f"{what} requires a model fitted to choices; this model was fitted to"
        f" {posterior.data_kind}. Use features(), and posterior_['posterior']['similarity'] for"
        " predictions."
    )


def of_only(kind: str, posterior: Posterior, what: str) -> Posterior:
    """The posterior; an ArgumentError names what was asked for if it is not of one group and this
    kind of data."""
    if (found := of_known_data(posterior, what).data_kind) != kind:
        raise ArgumentError(
            f"{what} requires a model fitted to {kind}; this model was fitted to {found}."
        )
    return posterior
