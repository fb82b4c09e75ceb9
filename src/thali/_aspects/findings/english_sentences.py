"""English sentences of the findings of latent-feature models."""

from thali._model.choice_findings import SENTENCES

ENGLISH = SENTENCES | {
    # features
    "features": "Most probable shared {word}s: {named}.",
    "features.unsure": "No shared {word} has probability ≥ 0.5; the most probable: {named}.",
    "features.given": "Specified shared {word}s: {named}.",
    "features.given.one": "{members} (weight {weight})",
    "features.one": "{members} (probability {probability}, weight {weight})",
    "features.more": "; and {more} with probability ≥ 0.5",
    "features.none": "No shared {word} is probable enough to be listed.",
    "features.brief": "Most probable shared {word}s, with their weights:",
    "features.brief.unsure": "No shared {word} has probability ≥ 0.5. The most probable:",
    "features.brief.given": "Specified shared {word}s, with their weights:",
    "features.title": "{Word}s: probability, weight and members",
    "features.matched": "Features from different draws are merged if their members are similar.",
    "features.not_agreed": "The chains disagree on {members}: their probabilities may differ in a"
    " run with another seed.",
    "features.place": "Of {total:.2f} {word}s (posterior mean) shared by some but not all {of},"
    " {clade:.2f} match a clade of the tree and {across:.2f} cut across the tree.",
    "features.no_place": "No {word} is shared by some but not all {of}.",
    "features.caption": "{Word}s and their members.",
    "number": "Number of {what}: {estimate}.",
    "number.fixed": "Number of {what}: {number:g} in every draw.",
    "number.uncertain": "The posterior is spread over many possible shared aspects, so no single"
    " one is certain.",
    "number.zero": "Most draws have no shared aspect.",
    "number.title": "Number of {word}s",
    # elimination
    "elimination.silent": "Choices do not identify aspects shared by all options, or the separate"
    " weights of an option's unique aspects (only the sum of these weights is identified).",
    "ranks.title": "Rank of each option by the total weight of its aspects",
    "unique_weights.title": "Weight of the unique aspect of each option, and its share of the"
    " total",
    "option_similarity": "{a} and {b} are the most similar options: shared aspects make up {share}"
    " of the weight of the two together.",
    "option_similarity.title": "Share of weight that two options have in common",
    "covariates.zero": "Choice probabilities apply to comparisons whose covariates are 0.",
    "parameters.alpha": "Concentration α: {value}.",
    # methods of papers
    "methods.luce": "Choices were modelled with the choice rule of {source}, with a Gamma(1, 1)"
    " prior on the worth of each option.",
    "methods.elimination": "Choices were modelled by elimination by aspects {source}. An aspect"
    " is selected with probability proportional to its weight, among the aspects that distinguish"
    " the remaining options, and the options without it are eliminated; this is repeated until one"
    " option is left.",
    "methods.tree": "The number of aspects and their assignment to options were inferred with a"
    " phylogenetic Indian buffet process prior {source} on a given tree of the options.",
    "methods.ibp": "The number of aspects and their assignment to options were inferred with an"
    " Indian buffet process prior {source}.",
    "methods.finite": "The assignment of {number} aspects to options was inferred with a"
    " beta-Bernoulli prior.",
    "methods.given": "The assignment of aspects to options was specified in advance.",
    "methods.alpha": "The concentration parameter {how}.",
    "methods.alpha.learned": "had a Gamma(1, 1) prior",
    "methods.alpha.fixed": "was fixed at {alpha:g}",
    "methods.own": "Every option also had one unique aspect; all weights had Gamma(1, 1) priors.",
    "methods.no_own": "All weights had Gamma(1, 1) priors.",
    "methods.ties.prior": ", with a Gamma(1, 1) prior on its parameter",
    # people who answered more than once
    "independence.aspects": "The adjustment also lowers the estimated number of {features}, because"
    " each answer carries less information.",
    # what was asked
    "elimination.asked.plain": "How strongly is each option preferred, assuming that its worth"
    " is the same for all respondents?",
    "elimination.asked.tree": "Which aspects determine choices among these options, assuming"
    " that related options tend to share aspects?",
    "elimination.asked.latent": "Which aspects determine choices among these options, how many are"
    " there, and how much weight does each carry?",
    "elimination.asked.given": "How much weight does each aspect carry, and which options do"
    " respondents prefer?",
    # maximum likelihood
    "ml.asked": "How much weight does each known aspect carry, and how strongly is each option"
    " preferred?",
    "ml.weights": "Aspect weights (sum to 1)",
    "ml.zero": "Weights estimated as zero (the lowest possible value, so there is no standard"
    " error): {names}.",
    "ml.tree": "The aspects as a tree of the options; the length of a branch is the weight of its"
    " aspect.",
    "ml.best": "Highest estimated utilities: {best}.",
    "ml.utility": "Utility scale: total weight of the aspects of each option",
    "ml.fit": "Measures of fit",
    "ml.pearson": "The alternative is the saturated model, which has a separate probability for"
    " each pair. Pearson X² = {pearson}.",
    "ml.ties": "Tie parameter nu: {nu} (standard error {error}).",
    "ml.likelihood": "Log-likelihood {log_likelihood}, including {what}; AIC {aic}, BIC {bic}.",
    "ml.pairs": "Pairs",
    "ml.outcomes": "Pair outcomes",
    "ml.worst": "{what} that the model predicts least well: {worst}.",
    "ml.residuals": "Deviance residuals, largest absolute values first",
    "ml.methods.elimination": "Choices were modelled by elimination by aspects {source} with given"
    " aspects.",
    "ml.methods.fitted": "Weights were estimated by maximum likelihood {source}; standard errors"
    " {errors}.",
    "ml.methods.tests": "and tests of fit are clustered by respondent {source}",
    # the open combination
    "open.asked": "Which latent features explain the data under the chosen prior and likelihood?",
    "open.unknown": "thali cannot simulate data from a user-defined likelihood, so the model was"
    " not checked.",
    # additive clustering
    "additive.asked": "Which features do the objects share, how many are there, and how much does"
    " each feature add to the similarity of the objects that share it?",
    "additive.silent": "In this model only shared features contribute to similarity, so the data"
    " carry no information about features of a single object; these are omitted.",
    "features.membership": "Probability that each option or object has the feature, given that the"
    " feature exists",
    "additive.counted": "features shared by two or more objects",
    "additive.counted.triplets": "features that affect the answers",
    "additive.all": "features in total, including features of a single object",
    "additive.no variance": "All similarities are equal, so there is no variance to account for.",
    "additive.explained": "{whose} account for {share} % of the variance in the data{bound}.",
    "additive.bound": "; an estimated {share} % of this variance is not noise",
    "additive.of.expectation": "The fitted (posterior mean) similarities",
    "additive.of.map-features": "The similarities of the map-features estimate",
    "additive.of.conditional-map": "The similarities of the conditional-map estimate",
    "additive.of.joint-map": "The similarities of the joint-map estimate",
    "additive.estimate.expectation": "Posterior mean over all feature sets (only the most probable"
    " features are listed)",
    "additive.estimate.map-features": "Most probable set of features, with the best-fitting"
    " weights",
    "additive.estimate.conditional-map": "Best draw among those with the most probable number of"
    " features",
    "additive.estimate.joint-map": "Jointly most probable draw of features and weights",
    "additive.deviation": ", at σ = {sigma} (square root of the posterior mean of σ²)",
    "additive.similarity": "Observed and fitted similarities.",
    "additive.check": "Observed similarities against model predictions.",
    "additive.check.title": "Observed similarities and their predictive intervals, worst-fitting"
    " first",
    "additive.pairs": "Pairs, from most to least similar: {named}.",
    "additive.ends": "Most similar pairs: {most}; least similar: {least}.",
    "additive.pairs.title": "Pairs of objects, ranked by similarity",
    "additive.alpha": "Concentration α: {alpha}, fixed.",
    "additive.link": "Choice rule: a pair is chosen with probability proportional to {link}"
    " ({setting}).",
    "additive.link.exp": "the exponential of its shared weight",
    "additive.link.ratio": "its shared weight plus a constant",
    "additive.answers": "Log-likelihood of all answers (natural logarithm): {value}.",
    "additive.density": "Log-likelihood of all data (a log density, so it can be positive):"
    " {value}.",
    "additive.sigma.judgement": "one judgement",
    "additive.sigma.similarity": "the similarities",
    "additive.sigma.several": ", divided by the mean of 1 / judgements",
    "additive.sigma.learned": "Error standard deviation σ of {of}: {value}; prior σ² ~"
    " InverseGamma({shape}, {share} times the variance of the similarities{more}).",
    "additive.sigma.chosen": "Error standard deviation σ of {of}: {value}, chosen from {number}"
    " values because it predicts held-out similarities best; use {argument} to set another value,"
    " or {setting} to estimate it.",
    "additive.sigma.fixed": "Error standard deviation σ of {of}: {value}, fixed.",
    "additive.sigma.data": "Error standard deviation σ of {of}: {value}, as given with the data.",
    "additive.prior": "Prior on {whose}: Gamma(shape {shape}, rate {rate}), with mean {mean} on the"
    " scale of the similarities. If you multiply the similarities by c, divide the rate by c"
    " ({argument}).",
    "additive.prior.constant": "each weight and the constant",
    "additive.prior.alone": "each weight",
    "tempering.seldom": "Chains at adjacent temperatures rarely swap states.",
    "tempering.none": "Tempering was not used.",
    "tempering.short": "Tempering used {number} temperatures from 1 to {highest}; the run was too"
    " short to estimate how often adjacent temperatures swap.",
    "tempering": "Tempering used {number} temperatures from 1 to {highest}; adjacent temperatures"
    " swapped in at least {rate} % of attempts.",
    "additive.point": "The most probable set of features found contains {number} shared by two or"
    " more objects.",
    "additive.point.title": "Features: weight and members",
    "additive.constant": "Additive constant: {value}.",
    "additive.variance": "Variance accounted for: {share} %.",
    "additive.point.likelihood": "Log-likelihood of the data (natural logarithm): {value}.",
    "additive.methods.ibp": "The number of features and their assignment to objects were inferred"
    " with an Indian buffet process prior {source}.",
    "additive.methods.tree": "The number of features and their assignment to objects were inferred"
    " with a phylogenetic Indian buffet process prior {source} on a given tree of the objects.",
    "additive.methods.prior": "Weights had a Gamma prior with shape {shape} and rate {rate}.",
    "additive.methods.exp": "The similarity of two objects was modelled by additive clustering"
    " {source} as the sum of the weights of the features they share. From each set, a pair was"
    " chosen as the most similar by the softmax rule {softmax}, with probability proportional to"
    " the exponential of its similarity.",
    "additive.methods.ratio": "The similarity of two objects was modelled by additive clustering"
    " {source} as the sum of the weights of the features they share. From each set, a pair was"
    " chosen as the most similar with probability proportional to a constant plus its similarity.",
    "additive.methods.lapse": "A lapse rate of {lapse} was assumed: with this probability, the pair"
    " was chosen uniformly at random.",
    "additive.methods.constant": "Similarities were modelled by additive clustering {source}: the"
    " similarity of two objects is the sum of the weights of the features they share, plus a"
    " constant, with normal error.",
    "additive.methods.no_constant": "Similarities were modelled by additive clustering {source}:"
    " the similarity of two objects is the sum of the weights of the features they share, with"
    " normal error.",
    "additive.methods.learned": "The error standard deviation was estimated as {value}.",
    "additive.methods.sigma": "The error standard deviation was {value}{chosen}.",
    "additive.methods.chosen": ", chosen by cross-validation over pairs of objects",
}
