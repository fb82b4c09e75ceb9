"""
More votes
==========

How probable it is that more votes separate the leaders of a leaderboard.
"""

import thali as th

board = th.leaderboard(th.datasets.celebrities(), progressbar=False)
th.plots.more_votes(board.more_votes())
