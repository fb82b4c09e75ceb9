"""The sentences of what comparisons find out, besides those about the orders of models."""

ENGLISH = {
    "asked": "Models were fitted without a {part}, and scored by how they predict it.",
    "comparison.title": "What each model predicts for {units} that it has not seen ({count} {units})",
    "comparison.caption": "Score of each {unit} by one model against another.",
    "scores.title": "Score of each {unit}",
    "scores": "The standard error of a difference is over {units} {unit}s. A difference is called established where"
    " chance alone would seldom leave one as large (Student's t test over independent units, 5 %, both sides).",
    "chains": "The chains do not agree on what was left out.",
    "evidence.asked": "The evidence of a model is the probability of the data that its prior gives, all parameters"
    " integrated out. It depends on the priors, also on those that hardly change the posterior.",
    "evidence.prior": "Before the data the models were given the probabilities {prior}.",
    "evidence.title": "Which model the data support",
    "evidence.legend": "log evidence: natural logarithm of the probability of the data, all parameters integrated out;"
    " probability: of the model given the data; log BF of best: log Bayes factor of the best model against this one.",
    "evidence.caption": "Log evidence with its interval, and posterior probability.",
    "evidence.priors": "Evidence under other priors",
    "temperatures": "Mean log-likelihood from the prior to the posterior, from which the evidence was found.",
    "evidence.good": "The evidence was found.",
    "evidence.bad": "The evidence is not yet sure.",
}
