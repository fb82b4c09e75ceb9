from .people_argument import Individuals as Individuals
