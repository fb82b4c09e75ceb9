"""
Judge discrimination
====================

The discrimination of the judges of a leaderboard: 1 is the typical judge, 0 is guessing.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import thali as th

rng = np.random.default_rng(2)
worth, sharpness, judge = (
    np.linspace(1, -1, 6),
    np.exp(np.linspace(-1.2, 1, 8)),
    rng.integers(0, 8, 2400),
)
first = rng.integers(0, 6, 2400)
second = (first + rng.integers(1, 6, 2400)) % 6
won = rng.random(2400) < 1 / (1 + np.exp(sharpness[judge] * (worth[second] - worth[first])))
options, judges = (
    np.array(["tea", "coffee", "cocoa", "milk", "juice", "water"]),
    np.array([*"ABCDEFGH"]),
)
answers = pd.DataFrame({"left": options[first], "right": options[second], "judge": judges[judge]})
answers["chosen"] = np.where(won, answers["left"], answers["right"])
board = th.leaderboard(answers, judges=True, progressbar=False)
table = board.judges()
ax = plt.figure().add_subplot()
ax.hlines(table.index, table["low"], table["high"])
ax.plot(table["discrimination"], table.index, "o")
ax.set_xlabel("discrimination (89 % interval)")
