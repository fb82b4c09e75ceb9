from . import exact as exact
from .calibration import calibrate as calibrate
from .likelihood_check import check as check
