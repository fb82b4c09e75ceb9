"""What a fitted model of choices among described products answers, whichever model it is.

chooser.py      what a model must know: shares of markets and utilities, draw by draw
methods.py      `ChoiceAnswers`: the methods of every such model
crowd.py        whose choices are asked for, and with which weights
market.py       tables of products: names, scenarios, changes
figures.py      means, intervals and standard errors of what was drawn
pairs.py        which levels are compared with which
shares.py       market shares and demand curves
effects.py      preferences between levels
importance.py   importance of attributes
pay.py          willingness to pay
lines.py        the best products to offer
"""
