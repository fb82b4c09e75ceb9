"""Choices among products, and what the models of them answer.

coding.py         products as numbers: a column for each level, or the number itself
logit.py          choice probabilities of a logit, and the log-likelihood with its derivatives
answers/          what every model answers about markets, levels, money and people
logits/           everybody has the same tastes, or tastes that are normally distributed among
                  people
latent_class/     a few segments of people, each with tastes of its own
product_classes/  sets of products that people care about
"""
