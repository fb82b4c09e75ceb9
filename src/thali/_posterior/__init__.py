"""Posterior of every fit: DataTree in the ArviZ schema, netCDF file, summary, convergence.

draws_writer.py               draws become variables of a tree
deferred_arrays.py            variables that are computed when they are read
posterior_tree.py             a tree's variables by name, for all who read them
datatree_files.py             trees as netCDF files, and as the sum of two fits
summary_table.py              means, intervals, R-hat and effective sizes
posterior_interval.py         intervals of draws
convergence_check.py          whether chains agree, and what to do if not
log_evidence.py               log evidence from tempered log-likelihoods
respondent_dependence.py      whether several answers of a respondent are treated as independent
effects_with_certain_sign.py  effects whose signs are certain at a joint error probability
"""
