from .check import check as check
from .choice import choice as choice
from .power import power as power
from .sets import pairs as pairs
from .sets import sets as sets
from .sets import triplets as triplets
