"""Which model predicts best what it has not seen.

compare.py           `thali.compare`: checks, runs every left-out fit, hands back the table
experiments.py       the same for choice experiments
held_out.py          which tasks of a choice experiment are left out, and one fit without them
experiment_table.py  the table of a choice experiment, and what it establishes
naming.py            the models by name
fit.py               one left-out fit: a model without one pair, and its score for that pair
scores.py            the two scores of a prediction, with their Monte Carlo errors
workers.py           spreads the fits over whatever joblib backend the user has set
kept.py              finished fits in a file, so that a long comparison can be taken up again
table.py             the table of the models, and what it establishes in plain sentences
"""
