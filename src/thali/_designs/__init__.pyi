from .choice_designs import choice as choice
from .design_check import check as check
from .power import power as power
from .set_designs import pairs as pairs
from .set_designs import sets as sets
from .set_designs import triplets as triplets
