"""What a fitted model of choices among described products answers, whichever model it is.

chooser.py    what a model must know: shares of markets and utilities, draw by draw; figures of what
              was drawn
methods.py    `ChoiceAnswers`: the methods of every such model
market.py     tables of products, and whose choices are asked for
shares.py     market shares, demand curves, and the best products to offer
effects.py    preferences between levels, and importance of attributes
pay.py        willingness to pay
segments.py   preferences of people, by which segments of them are made
check.py      the posterior predictive check, and the rows of the summary
simulator.py  a market that the reader of a page changes
logits.py     the people of a logit, and their markets
findings.py   what a report says of all this, in the sentences of english.py
"""
