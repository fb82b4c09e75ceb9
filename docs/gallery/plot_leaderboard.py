"""
A leaderboard
=============

Ratings, ranks and groups of options that cannot be told apart.
"""

import thali as th

board = th.leaderboard(th.datasets.celebrities(), progressbar=False)
th.plots.leaderboard(board.table)
