from .check import check as check
from .choice import choice as choice
from .power import power as power
