"""The sentences of what classifiers find out."""

ENGLISH = {
    "asked": "Which covariates tell the classes apart, and how sure is that?",
    "weights": "The largest {words}: {named}.",
    "weights.none": "All {words} are zero.",
    "weights.all": "Relative weights (they sum to 1): all {every} are above zero; the largest first",
    "weights.some": "Relative weights (they sum to 1): {shown} of {every} are above zero, all others exactly zero",
    "weights.means": "Relative weights (they sum to 1), posterior means; the largest first",
    "weights.exp": "A weight is of exp of a covariate with mean 0 and standard deviation 1.",
    "coef.some": "Coefficients of standardised covariates, against class {reference}: {shown} of {every} are not 0, all"
    " others exactly 0",
    "coef.all": "Coefficients of standardised covariates, against class {reference}; those furthest from 0 first",
    "cv.title": "Cross-validation: {rows} rows in {done} folds, each predicted by a fit to the others",
    "cv.better": "{name} errs less often than always naming the majority class (by {mean}, standard error {error}).",
    "cv.worse": "{name} errs MORE often than always naming the majority class (by {mean}, standard error {error}).",
    "cv.open": "That {name} errs less often than always naming the majority class is not established ({mean}, standard"
    " error {error}).",
    "cv.ended": "Cross-validation ended after {done} of {folds} folds: {fault}.",
    "cv.infinite": "The log loss is infinite, because {rows} rows have a class whose predicted probability is 0.",
    "rows": "Of the {rows} rows {likely} belong to a class that the model gives a probability of .5 or more; the mean"
    " probability of the right class is {mean}. The model has seen these rows; of new ones it knows less.",
    "rows.title": "Rows whose class is the least expected; rows from 0",
    "rows.unknown": "The likelihood of each row is not stored with this fit; model.score(X, y) checks it.",
    "shape": "Shape a of the prior of the weights: {value}.",
    "shape.fixed": "{value}, fixed",
    "shape.learned": "{value}, learned with p(a) ∝ 1/a from {low} to {high}",
    "rate": "Rate η of the law that mixes the variances of the coefficients: {value}.",
    "rate.learned": "{value}, learned",
    "horseshoe": "Scales of the horseshoe prior: log tau {tau}, slab {slab}.",
    "log_likelihood": "Log-likelihood of all the data: {value}.",
    "log_likelihood.priors": "Log-likelihood of all the data: {value}; with the priors: {objective}.",
    "log_likelihood.weights": "Log-likelihood of all the data: {value}; with that of the prior of relative weights:"
    " {objective}.",
    "sweeps": "Found in {sweeps} sweeps over the data.",
    "bound": "Lower bound of the log evidence: {value}.",
    "path": "How the estimates change with the prior.",
    "decision": "The most probable class for each pair of values.",
    "methods.plackett-luce": "Classes were modelled by Plackett-Luce regression {source}.",
    "methods.map": "Classes were modelled by a multinomial logit with Laplace priors of rate {rate} (eta = {eta}) for"
    " standardised coefficients, at the maximum of the posterior.",
    "methods.normal": "Classes were modelled by a Bayesian multinomial logit whose coefficients have Laplace priors, by"
    " a {kind} approximation of the posterior.",
    "methods.laplace": "Classes were modelled by a Bayesian multinomial logit whose coefficients have Laplace priors,"
    " sampled by the scheme of {source}.",
    "methods.horseshoe": "Classes were modelled by a Bayesian multinomial logit whose coefficients have regularised"
    " horseshoe priors of {prior}, sampled by the scheme of {source}.",
}
