from .finite import FiniteFeatures as FiniteFeatures
from .given import Given as Given
from .ibp import IndianBuffet as IndianBuffet
from .phylogenetic import PhylogeneticBuffet as PhylogeneticBuffet
