from .likelihood_check import check as check
from .simulation_based_calibration import calibrate as calibrate
