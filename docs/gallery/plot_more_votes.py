"""
More votes
==========

How probable it is that more votes separate the leaders of a leaderboard.
"""

import thali as th

board = th.leaderboard(th.datasets.celebrities(), progressbar=False)
ax = board.more_votes().plot(marker="o", logx="sym", ylim=(0, 1))
ax.set_ylabel("probability that the leaders are separated")
