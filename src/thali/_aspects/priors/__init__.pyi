from .finite_features import FiniteFeatures as FiniteFeatures
from .given_features import Given as Given
from .indian_buffet import IndianBuffet as IndianBuffet
from .phylogenetic import PhylogeneticBuffet as PhylogeneticBuffet
