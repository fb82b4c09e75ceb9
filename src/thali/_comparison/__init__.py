"""Comparison of models by held-out predictions (splitters, scorers) or by evidence.

- `compare`: `thali.compare`, which checks the models and the arguments
- `holdout_schemes`: the splitters and scorers of each kind of data
- `splitter`: the base of splitters, and the splitter of groups
- `scorer`: the base of scorers, and the columns of the table
- `pairs`, `choices`, `rows`: splitters and scorers of kinds of data
- `engine`: runs and records every fit on the user's joblib backend
- `job`, `job_table`: the fits of a comparison, their folder, and its table
- `table`: the table, built from the records of the fits
- `sentences`: sentences about the table
"""
