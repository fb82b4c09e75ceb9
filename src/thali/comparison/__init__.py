"""Which model predicts best what it has not seen: Splitter x Scorer.

compare.py            `thali.compare`: the models by name, checks, and hands the rest on
ways.py               what can be left out of each kind of data, and who scores it
splitter.py           what every splitter answers, and the splitter of groups of people over that of one group
pairs.py              pairs, similarities and triplets left out; binomial and Gaussian log scores
choices.py            tasks, choices or respondents left out; log score and hits of choices, people and triplets
rows.py               covariates and classes: rows in stratified folds; their log loss, accuracy and Brier score
scorer.py             what every scorer answers, and the columns of its table
scores.py             the log score of one pair, with its Monte Carlo errors
engine.py             runs every left-out fit on whatever joblib backend the user has set, and records it
left_out.py           one left-out fit: a model without one part, and its scores for that part
shards.py             the fits of a comparison, and shares of them for several processes
merge.py              the table of a job; `thali.merge`: the shards of a comparison become one
table.py              the table, made of the records of the fits
sentences.py          what the table establishes, in plain sentences
"""
