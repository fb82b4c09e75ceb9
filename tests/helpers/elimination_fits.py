"""A model of choices with made-up draws, for the tests of what comes after sampling."""

import thali
from helpers.posterior_cases import chain
from thali._aspects.draws.posterior_tree import build_datatree
from thali.likelihoods import Elimination


class FakeModel(thali.EliminationByAspects):
    """Draws at random instead of fitting."""

    happens = staticmethod(lambda: None)  # in the middle of a fit
    _interrupted_ = False
    _fitted_to_ = "a few pairs"
    learned_alpha = True
    common = ((0, 1),)  # aspects of most draws ...
    beside = 4.0  # ... and the mean number of others

    def fit(self, data, **budget):
        self.happens()
        draws, chains = budget.get("draws", 1000), budget.get("chains", 4)
        chains = [
            chain(data.n_options, draws, seed, self.beside, self.common) for seed in range(chains)
        ]
        self.posterior_ = build_datatree(
            chains, data, Elimination(0.01, self.unique), is_alpha_learned=self.learned_alpha
        )
        return self

    def features(self, min_probability=0.05, similar=None, ci=0.89):
        return thali.LatentFeatureModel.features(self)  # without the names of given aspects
