from . import exact as exact
from . import joint as joint
from . import naive as naive
from .calibration import calibrate as calibrate
from .own_likelihood import check as check
