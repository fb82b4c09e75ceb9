from .people_argument import Groups as Groups
from .people_argument import Individuals as Individuals
from .people_argument import LatentClasses as LatentClasses
