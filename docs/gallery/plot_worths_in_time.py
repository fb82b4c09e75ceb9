"""
Ratings over time
=================

The ratings of a leaderboard in each month, with bands of their intervals.
"""

import numpy as np
import pandas as pd

import thali as th

rng = np.random.default_rng(4)
worth, day = np.linspace(1, -1, 5), np.sort(rng.integers(0, 300, 3000))
first = rng.integers(0, 5, 3000)
second = (first + rng.integers(1, 5, 3000)) % 5
rise = np.array([-1.5, 0, 0, 0, 1.5])
difference = worth[first] - worth[second] + (rise[first] - rise[second]) * day / 300
names = np.array([f"model-{letter}" for letter in "abcde"])
battles = pd.DataFrame({"model_a": names[first], "model_b": names[second]})
battles["winner"] = np.where(rng.random(3000) < 1 / (1 + np.exp(-difference)), "model_a", "model_b")
battles["date"] = (pd.Timestamp("2024-01-01") + pd.to_timedelta(day, "D")).astype(str)
board = th.leaderboard(battles, period="month", date="date", progressbar=False)
th.plots.worths_in_time(board.worths_in_time())
