from . import exact as exact
from .calibration import calibrate as calibrate
from .own_likelihood import check as check
