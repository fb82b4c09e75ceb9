"""Which model predicts best what it has not seen: Splitter x Scorer.

compare.py            `thali.compare`: the models by name, checks, and hands the rest on ways.py
what can be left out of each kind of data, and who scores it splitter.py           what every
splitter answers, and the splitter of groups of people over that of one group pairs.py
pairs, similarities and triplets left out; binomial and Gaussian log scores choices.py
tasks, choices or respondents left out; log score and hits of choices, people and triplets rows.py
covariates and classes: rows in stratified folds, their scores, cross-validation of classifiers
scorer.py             what every scorer answers, and the columns of its table engine.py
one left-out fit; runs every one on whatever joblib backend the user has set, and records it job.py
the fits of a comparison, and their folder job_table.py          the table of a job, without the
models and the data table.py              the table, made of the records of the fits sentences.py
what the table establishes, in plain sentences
"""
