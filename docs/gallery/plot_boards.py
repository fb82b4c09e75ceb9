"""
Leaderboards of parts
=====================

Ratings in each language beside those of all battles together: is it the same everywhere?
"""

import numpy as np
import pandas as pd

import thali as th

rng = np.random.default_rng(1)
a = rng.integers(0, 6, 3_000)
b = (a + rng.integers(1, 6, 3_000)) % 6
language = rng.choice(["de", "en", "fr"], 3_000, p=[0.2, 0.6, 0.2])
strength = np.linspace(0.9, -0.9, 6) + np.where(language[:, None] == "fr", [0, 0, 0, 0, 0, 0.9], 0.0)
p = 1 / (1 + np.exp(strength[np.arange(3_000), b] - strength[np.arange(3_000), a]))
names = np.array(["ant", "bee", "cat", "dog", "eel", "fox"])
winner = np.where(rng.random(3_000) < p, "model_a", "model_b")
battles = pd.DataFrame({"model_a": names[a], "model_b": names[b], "winner": winner, "language": language})
th.plots.boards(th.leaderboard(battles, by="language", progressbar=False))
