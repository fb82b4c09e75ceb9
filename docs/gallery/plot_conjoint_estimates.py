"""
Effects of a conjoint experiment
================================

Average marginal component effects of attributes of candidates, in two groups of respondents.
"""

from simulated_tables import candidates

import thali as th

th.amce(candidates(), by="party").plot()
