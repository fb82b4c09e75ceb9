"""The samplers that the papers published, for comparison with those of thali.

elimination_2006.py     Görür, Jäkel & Rasmussen (2006), and Navarro & Griffiths (2007), with a valid
                        scan and as printed
phylogenetic_2008.py    Miller, Griffiths & Jordan (2008), section 3
plackett_luce_2012.py   Archambeau & Caron (2012)
holmes_held_2006.py     Holmes & Held (2006), of the sparse logit
"""

from typing import Any

from thali._aspects.likelihoods.additive import Additive
from thali._aspects.priors.phylogenetic import PhylogeneticBuffet

from . import elimination_2006, phylogenetic_2008

__all__ = ["published_sweep", "use_published_sampler"]


def published_sweep(prior: Any, likelihood: Any) -> Any:
    """Return the published sweeps for this prior and likelihood.

    The weights of elimination must have the prior Gamma(1, 1).
    """
    if isinstance(likelihood, Additive):
        return elimination_2006.published
    return (
        phylogenetic_2008.published
        if isinstance(prior, PhylogeneticBuffet)
        else elimination_2006.algorithm_1
    )


def use_published_sampler(model: Any) -> Any:
    """Let a latent-feature model sample as its paper does; returns the model."""
    parts_of = model._build_task_arguments

    def parts_with_sweep(data: Any) -> dict[str, Any]:
        parts = parts_of(data)
        return parts | {"sweep": published_sweep(parts["prior"], parts["likelihood"])}

    model._build_task_arguments = model._build_prepare_arguments = parts_with_sweep
    return model
