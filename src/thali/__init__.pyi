from . import datasets as datasets
from . import errors as errors
from . import likelihoods as likelihoods
from . import paired as paired
from . import plots as plots
from . import priors as priors
from . import testing as testing
from .comparison.compare import compare as compare
from .comparison.merge import merge as merge
from .data.choices import Choices as Choices
from .data.experiment import ChoiceExperiment as ChoiceExperiment
from .data.pairs import PairedComparisons as PairedComparisons
from .data.similarities import Similarities as Similarities
from .model.choice_logits.hierarchical import HierarchicalLogit as HierarchicalLogit
from .model.choice_logits.multinomial import MultinomialLogit as MultinomialLogit
from .model.elimination_ml.ratio import likelihood_ratio as likelihood_ratio
from .model.latent_features.additive import AdditiveClustering as AdditiveClustering
from .model.latent_features.elimination import EliminationByAspects as EliminationByAspects
from .model.latent_features.model import LatentFeatureModel as LatentFeatureModel
from .model.plackett_luce.model import PlackettLuceRegression as PlackettLuceRegression
from .model.product_classes.model import ProductClasses as ProductClasses
from .model.registry import models as models
from .model.saved import load as load
from .model.sparse_logit.model import SparseMultinomialLogit as SparseMultinomialLogit
from .reading.table import read_table as read_table
from .trees.tree import Tree as Tree

__version__: str
