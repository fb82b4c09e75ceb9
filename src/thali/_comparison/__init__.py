"""Comparison of models by held-out predictions (splitters, scorers) or by evidence.

- `compare`: `thali.compare`, which checks the models and the arguments
- `holdout_schemes`: the splitters and scorers of each kind of data
- `splitter`: the base of splitters
- `scorer`: the base of scorers, and the columns of the table
- `pair_holdouts`, `choice_holdouts`, `classifier_holdouts`: splitters and scorers of kinds of data
- `held_out_fits`: runs and records every fit on the user's joblib backend
- `job_folder`, `table_from_job`: the fits of a comparison, their folder, and its table
- `score_table`: the table, built from the records of the fits
- `sentences`: sentences about the table
"""
