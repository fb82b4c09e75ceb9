"""The sentences of what comparisons find out, besides those about the orders of models."""

_DIFFERENCE = "to best: log score minus that of the best model"
LEGENDS = {
    "BinomialScorer": "score: mean over pairs of -ln Binomial(observed | n, posterior mean), smaller is better; bits:"
    " information per comparison above guessing; log pred.: mean of the log of the posterior mean of the binomial; to"
    " best: score minus that of the best model, with its standard error over pairs.",
    "ChoiceScorer": "log score: mean over choices of the log of the predicted probability, larger is better;"
    f" {_DIFFERENCE}; standard errors are over {{unit}}s.",
    "ClassScorer": "log loss: mean over rows of -ln of the predicted probability of the class, smaller is better;"
    " right: share of rows whose most probable class is theirs; Brier: mean squared distance of the probabilities from"
    " 0 and 1; to best: log loss minus that of the best model. BASE: the proportions of the classes, and the largest"
    " class, of the other rows.",
    "GaussianScorer": "log score: mean over pairs of objects of the log of the predictive density, larger is better;"
    f" sq. error: mean squared distance of similarities from their predictions; {_DIFFERENCE}. BASE: one normal"
    " distribution for all.",
    "TripletScorer": "log score: mean over answers of the log of the predicted probability of the pair named, larger is"
    f" better; hits: share of answers that name the most probable pair; {_DIFFERENCE}; standard errors are over sets."
    " BASE: guessing.",
}
LEGENDS["PeopleScorer"] = (
    LEGENDS["ChoiceScorer"]
    + " together: log of the probability of all choices of a person together, summed over people and divided by the"
    " number of choices."
)
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
