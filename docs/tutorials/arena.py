"""A simulated arena: 50 models, 6 languages, 12 weeks, 30 judges; battles.csv, and last_week.csv
with its end."""

import numpy as np
import pandas as pd

rng = np.random.default_rng(7)
models, weeks, battles = 50, 12, 40_000
names = np.array([f"model-{k:02d}" for k in range(1, models + 1)])
languages = np.array(["en", "zh", "ru", "de", "fr", "ja"])
worth = rng.normal(0.0, 0.8, models)[:, None] + np.zeros(weeks)  # log worths by week
worth += np.where(
    rng.random((models, 1)) < 0.2, rng.normal(0.0, 0.8, (models, 1)), 0.0
) * np.linspace(0.0, 1.0, weeks)
entry = np.where(np.arange(models) < 40, 0, rng.integers(2, 9, models))  # ten models come later
wordy = rng.normal(0.0, 120.0, models)
of_language = rng.normal(0.0, 0.25, (models, 6))
sharpness, liking = np.exp(rng.normal(0.0, 0.5, 30)), rng.normal(0.6, 0.3, 30)

week = np.sort(rng.integers(0, weeks, battles))
popularity = rng.dirichlet(np.full(models, 2.0))
sides = np.empty((battles, 2), int)
for w in range(weeks):
    there = np.flatnonzero(entry <= w)
    rows = np.flatnonzero(week == w)
    share = popularity[there] / popularity[there].sum()
    sides[rows] = [rng.choice(there, 2, replace=False, p=share) for _ in rows]
a, b = sides.T
language = rng.choice(6, battles, p=[0.55, 0.2, 0.1, 0.08, 0.05, 0.02])
judge = rng.integers(0, 30, battles)
length_a, length_b = (np.maximum(20, rng.normal(300 + wordy[side], 80)).round() for side in (a, b))
better = worth[a, week] + of_language[a, language] - worth[b, week] - of_language[b, language]
odds = sharpness[judge] * better + liking[judge] * (length_a - length_b) / 100
tied = rng.random(battles) < 0.25 / np.cosh(odds / 2)
won = rng.random(battles) < 1 / (1 + np.exp(-odds))
day = pd.Timestamp("2024-01-01") + pd.to_timedelta(7 * week + rng.integers(0, 7, battles), "D")
log = pd.DataFrame({"id": range(battles), "model_a": names[a], "model_b": names[b]})
log["winner"] = np.where(tied, "tie", np.where(won, "model_a", "model_b"))
log = log.assign(
    language=languages[language], judge=[f"judge-{k:02d}" for k in judge + 1], date=day.astype(str)
)
log = log.assign(length_a=(length_a / 100).round(1), length_b=(length_b / 100).round(1))
log[week < weeks - 1].to_csv("battles.csv", index=False)
log[week == weeks - 1].to_csv("last_week.csv", index=False)
