"""`thali design --tasks`: tasks of a choice experiment from a table of attributes."""

import pandas as pd
import pytest
from test_cli import run

import thali as th

pytestmark = pytest.mark.unit
