"""Slow and obvious evaluations that fast code must agree with.

- `latent_features`: elimination by aspects, additive similarity and triplets, given features and
  weights.
- `worths`: comparisons and sets of options with worths, judges and ties.
- `worths_of_people`: answers of people whose worths differ, and the joint density of the whole
  model.
- `choice_models`: logits of choice experiments.
- `product_classes`: prior, likelihood and predictions of product classes.
- `plackett_luce`: regression with Gamma or exponential weights.
- `respondent_scores`: standard errors over respondents.
"""
