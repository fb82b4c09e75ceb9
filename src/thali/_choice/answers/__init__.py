"""Reports of every fitted model of choices among products: shares, effects, willingness to pay.

chooser.py             interface of a model: shares of markets and utilities in each draw; figures
                       over draws
methods.py             `MarketAnswers`: the methods of every such model
respondents.py         results about respondents
market.py              tables of products; selected respondents and their weights
rules.py               choice rules, availability, and actual shares
shares.py              market shares, demand curves, and the best products to offer
substitution.py        elasticities, and source of volume
product_lines.py       product lines with the largest reach
effects.py             preferences between levels, and importance of attributes
utilities.py           utilities of levels
willingness_to_pay.py  willingness to pay
segments.py            preferences of respondents, from which segments are formed
check.py               the posterior predictive check, and the rows of the summary
holdouts.py            predictions of holdout tasks
simulator.py           a market that the reader of a page can change
logit_chooser.py       respondents of a logit, and their markets
findings.py            findings of a report, with the sentences of english.py
"""
