"""Reports of every fitted model of choices among products: shares, effects, willingness to pay.

choice_draws.py         `Chooser`, a model's choices in each draw; summaries over draws
logit_choice_draws.py   `Chooser` of logit models, and their markets
market_methods.py       `MarketMethods`: the methods of every such model
respondent_results.py   results about respondents
market_tables.py        tables of products
people_weights.py       selected respondents and their weights
share_settings.py       choice rules, availability, and actual shares
market_shares.py        market shares and demand curves
substitution.py         elasticities
product_lines.py        product lines with the largest reach
level_effects.py        preferences between levels, and importance of attributes
level_utilities.py      utilities of levels
willingness_to_pay.py   willingness to pay
level_preferences.py    preferences of respondents, from which segments are formed
predictive_check.py     the posterior predictive check, and the rows of the summary
holdout_predictions.py  predictions of holdout tasks
market_simulator.py     a market that the reader of a page can change
findings.py             findings of a report
finding_sentences.py    sentences of these findings
"""
