"""What is refused of a posterior because of its data or its people."""

from thali._data.kinds import OWN, SIMILARITIES, TRIPLETS
from thali._posterior.view import Posterior
from thali.errors import ArgumentError


def of_known_data(posterior: Posterior, what: str) -> Posterior:
    """The posterior; an ArgumentError names what was asked for if it is of no data of one group that thali knows."""
    if posterior.data_kind == OWN:
        raise ArgumentError(
            f"{what} is not there for a likelihood of your own, because thali does not know what it predicts; compute "
            "it from posterior_['latent_features']['features'] and ['weights']."
        )
    if posterior.groups:
        first = posterior.groups[0]
        raise ArgumentError(f"{what} is of one group of people; take the model of one, such as of_group({first!r}).")
    if posterior.has_classes:
        raise ArgumentError(f"{what} is for one latent class; take the model of one, such as of_class(1).")
    return posterior


def of_choices(posterior: Posterior, what: str) -> Posterior:
    """The posterior; an ArgumentError names what was asked for if it is not of choices."""
    if not of_known_data(posterior, what).facts.of_choices:
        raise ArgumentError(
            f"{what} is for models of choices, and this one was fitted to {posterior.data_kind}; see features(), and "
            "posterior_['posterior']['similarity'] for what it predicts."
        )
    return posterior


def of_similarities(posterior: Posterior, what: str) -> Posterior:
    """The posterior; an ArgumentError names what was asked for if it is not of similarities."""
    return _of(SIMILARITIES, posterior, what)


def of_triplets(posterior: Posterior, what: str) -> Posterior:
    """The posterior; an ArgumentError names what was asked for if it is not of triplets."""
    return _of(TRIPLETS, posterior, what)


def _of(kind: str, posterior: Posterior, what: str) -> Posterior:
    """The posterior, if it is of one group and this kind of data."""
    if (found := of_known_data(posterior, what).data_kind) != kind:
        raise ArgumentError(f"{what} is for models of {kind}, and this one was fitted to {found}.")
    return posterior
