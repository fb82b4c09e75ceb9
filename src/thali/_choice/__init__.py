"""Models of choices among described products (conjoint experiments), and their reports.

product_coding.py     columns of the model matrix: levels, numbers, and interactions
logit_likelihood.py   choice probabilities of a logit, and the log-likelihood with derivatives
respondent_errors.py  covariance of estimates if a respondent's answers depend
reports/              reports on markets, levels, money and respondents that every model has
logits/               equal tastes of all respondents, or tastes with a normal distribution
latent_class/         latent classes of respondents, each with separate tastes
product_classes/      sets of products that respondents care about
"""
