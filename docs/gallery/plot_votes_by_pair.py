"""
Votes by pair
=============

How many comparisons each two options of a leaderboard have.
"""

import numpy as np
import pandas as pd

import thali as th

rng = np.random.default_rng(2)
names = np.array([f"model-{k:02d}" for k in range(1, 17)])
popularity = rng.dirichlet(np.full(16, 1.0))
pairs = np.array([rng.choice(16, size=2, replace=False, p=popularity) for _ in range(3_000)])
strength = np.linspace(1.0, -1.0, 16)[pairs]
first_won = rng.random(3_000) < 1 / (1 + np.exp(strength[:, 1] - strength[:, 0]))
battles = pd.DataFrame(names[pairs], columns=["model_a", "model_b"])
battles["winner"] = np.where(first_won, "model_a", "model_b")
th.plots.votes_by_pair(th.leaderboard(battles, progressbar=False))
