from .populations import Groups as Groups
from .populations import Individuals as Individuals
from .populations import LatentClasses as LatentClasses
