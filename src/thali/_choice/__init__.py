"""Models of choices among described products (conjoint experiments), and their reports.

coding.py         columns of the model matrix: levels, numbers, and interactions
logit.py          choice probabilities of a logit, and the log-likelihood with its derivatives
answers/          reports on markets, levels, money and respondents that every model has
logits/           equal tastes of all respondents, or tastes with a normal distribution
latent_class/     latent classes of respondents, each with its own tastes
product_classes/  sets of products that respondents care about
"""
