"""The sentences of what latent-feature models find out."""

ENGLISH = {
    # features
    "features": "The most probable {word}s that several share: {named}.",
    "features.unsure": "No {word} is certain; the most probable that several share: {named}.",
    "features.given": "The given {word}s that several share: {named}.",
    "features.given.one": "{members} (weight {weight})",
    "features.one": "{members} (probability {probability}, weight {weight})",
    "features.more": "; and {more} with probability 0.5 or more",
    "features.none": "No {word} that several share is present often enough to be named.",
    "features.brief": "The most probable that several share, with their weights:",
    "features.brief.unsure": "None is certain (probability 0.5 or more). The most probable that several share:",
    "features.brief.given": "The given {word}s that several share, with their weights:",
    "features.title": "{Word}s, their weights and who has them",
    "features.matched": "Features of different draws with similar owners are taken for one.",
    "features.not_agreed": "The chains do not agree on the probability of {members}; another seed may well give"
    " another.",
    "features.place": "Of {total:.2f} {word}s (posterior mean) that some {of} share and others lack, {clade:.2f} are"
    " those of a clade of the tree and {across:.2f} cut across it.",
    "features.no_place": "No {word} is shared by some {of} and not by all.",
    "features.caption": "{Word}s and who has them.",
    "number": "The number of {what} is about {estimate}.",
    "number.fixed": "The number of {what} is {number:g} in every draw.",
    "number.caption": "The posterior of the number of {word}s, and of the concentration where it was learned.",
    "number.title": "How many {word}s there are",
    # elimination
    "elimination.silent": "Choices tell nothing of an aspect that all options have, and of the aspects of one option"
    " alone only the sum.",
    "ranks.sure": "{option} is the option most preferred (probability {probability}).",
    "ranks.open": "Which option is most preferred is not settled; the likeliest are {named}.",
    "ranks.intervals": "{best} Ranks with {interval}s:",
    "ranks.title": "Rank of the options by the weight of all their aspects",
    "ranks.caption": "Rank of each option by the weight of all its aspects, and its interval: on average {best} has"
    " {first}, {worst} {last}.",
    "ranks.common": "Ranks are by the weights common to everybody, which are means of people's weights: an option that"
    " some prefer by far and others hardly at all may rank high by them, and not by everybody's scores or shares.",
    "unique_weights.title": "Weight of what each option has alone, and its share of their sum",
    "choice_probabilities.title": "Observed proportions beside predicted probabilities",
    "choice_probabilities.caption": "Observed proportions against predicted probabilities: the closer to the diagonal,"
    " the better predicted.",
    "option_similarity": "{a} and {b} share most: {share} of what they have.",
    "option_similarity.title": "How much of what options have they share, two at a time",
    "covariates": "The factors by which a unit of each covariate multiplies the odds of the first of two options:"
    " {factors}.",
    "covariates.title": "What a unit of each covariate adds to the log odds of the first of two options, and multiplies"
    " its odds by",
    "covariates.zero": "Choice probabilities are of comparisons whose covariates are 0; those of options are part of"
    " their weights.",
    "parameters.alpha": "Concentration α: {value}.",
    "parameters.tie": "Ties: nu is {value}; between equal options a comparison ends in a tie with probability nu / (2 +"
    " nu).",
    "parameters.log_likelihood": "Log-likelihood of all the data, no constant left out: {value}.",
    "parameters.lapse": "Lapse, the probability of a blind choice, fixed at {lapse:g}.",
    "check.title": "Each observed proportion and its predictive interval, the worst first",
    "check.uneven": "Weights of everybody, their scores, ranks and segments are drawn to those of options about which"
    " people agree more. {setting} learns of each option how much people differ.",
    "check.uneven.headline": "People differ more about some options than about others, which the model does not know.",
    "check.caption": "Observed proportions against what the model predicts.",
    # methods of papers
    "methods.luce": "Choices were modelled by the choice rule of {source}, with a Gamma(1, 1) prior on the worth of"
    " each option.",
    "methods.elimination": "Choices were modelled as elimination by aspects {source}: an aspect that some but not all"
    " of the options at hand have is selected with probability proportional to its weight, and the options that lack it"
    " are eliminated.",
    "methods.tree": "Which options have which aspects, and how many aspects there are, was inferred under the"
    " phylogenetic Indian buffet process prior {source} on a given tree of the options.",
    "methods.ibp": "Which options have which aspects, and how many aspects there are, was inferred under the Indian"
    " buffet process prior {source}.",
    "methods.finite": "Which options have which of {number} aspects was inferred under a beta-Bernoulli prior.",
    "methods.given": "Which options have which aspects was given beforehand.",
    "methods.alpha": "Its concentration parameter {how}.",
    "methods.alpha.learned": "had a Gamma(1, 1) prior",
    "methods.alpha.fixed": "was fixed at {alpha:g}",
    "methods.own": "Every option had one aspect of its own besides; all weights had Gamma(1, 1) priors.",
    "methods.no_own": "All weights had Gamma(1, 1) priors.",
    "methods.best_worst.ranking": "The best and the worst of a set were modelled as the first and the last of a"
    " ranking, whatever the order of the others {source}.",
    "methods.best_worst.maxdiff": "The best and the worst of a set were modelled as the two options that differ most,"
    " by maximum difference {source}.",
    "methods.ties": "Ties were modelled by the rule of {source}{prior}.",
    "methods.ties.prior": ", its parameter having a Gamma(1, 1) prior",
    "methods.covariates": "{names} added to the log odds of a choice, each with a coefficient that had a Normal(0, 1)"
    " prior.",
    "methods.lapse": "With probability {lapse:g} a choice was made at random among the options.",
    # people who answered more than once
    "independence.good": "Intervals hold for new samples of people.",
    "independence.bad": "Intervals are too narrow for statements about people.",
    "independence.asked": "Which options do people prefer, if everybody has weights of their own about common ones?",
    "independence.aspects": "The power lowers the number of {features}, too: less is learned of them.",
    "independence.methods.independent": "The {answers} answers of {people} people were taken for independent of each"
    " other (design effect {effect}).",
    "independence.methods.once": "Each of {people} people answered once.",
    "independence.methods.scores": "The {answers} answers were those of {people} respondents (design effect {effect});"
    " posterior draws were spread to the covariance H⁻¹VH⁻¹, with H the Hessian at the mode and V the variance of"
    " respondents' scores, each adjusted for its leverage, known to {df} {source}.",
    "independence.methods.power": "The {answers} answers were those of {people} people; the likelihood was raised to"
    " the power of one over their design effect, {effect} {source}.",
    "independence.methods.random": "Each of {people} people had weights of their own, which varied about common ones.",
    "individuals": "Of {number} people the option with the largest share is most often {options}.",
    "individuals.weights": "Weight of each feature for each person, if present",
    "individuals.title": "Share of each option for each person",
    "individuals.caption": "Share of each option for each person, and by the common weights.",
    "option_scores": "Highest scores: {named}; an average option would have {average}.",
    "option_scores.brief": "{scale}; an average option would have {average}.",
    "option_scores.none.brief": "{scale}.",
    "option_scores.by": "Scores sum to 100 and are proportional to how often an option would be chosen as the best of a"
    " set with {others} others of average worth.",
    "option_scores.none": "Highest scores: {named}; {average}, which stands for none of them, has 100.",
    "option_scores.none.by": "Scores are proportional to how often an option would be chosen as the best of a set with"
    " {others} others as good as {none}; above_none is the share who prefer it to {none}.",
    "option_scores.title": "Scores of the options, {scale}",
    "option_scores.sum": "100 in all",
    "option_scores.anchor": "100 for {none}",
    "option_scores.caption": "Score of each option and its interval.",
    "option_scores.segments": "Scores of the options in each segment, {scale}",
    "reach": "{options} reach {share} % of people ({interval} {low} to {high} %); the probability that no other set of"
    " as many reaches more is {best}.",
    "reach.by": "An option reaches a person whose share of it is above the mean of all options.",
    "reach.one_spread": "People are taken to differ as much about each option: reach is too large for options about"
    " which they agree and too small for those about which they differ most, beyond what the intervals say. {setting}"
    " learns it of each option.",
    "reach.uneven": "People differ more about {most} than about {least}, which they hardly would if they differed as"
    " much about each option (p = {p}).",
    "reach.greedy": "Of {sets} sets not all were tried, but the best ones by a greedy search with exchanges; none"
    " reaches more than {bound} % {source}.",
    "reach.title": "Sets of {size} options that reach most people",
    "reach.methods": "The sets of options that reach most people were found as in total unduplicated reach and"
    " frequency {turf}: an option reaches those whose share of it is above the mean of all options. Their intervals"
    " allow for the sampling of people by a Bayesian bootstrap {bootstrap}.",
    "reach.caption": "Share of people whom each set reaches, and its interval.",
    "respondent_effects": "What people prefer depends on what is known of them: {effects}.",
    "respondent_effects.judged": "How much people weigh a feature depends on what is known of them: {effects}.",
    "respondent_effects.one": "{of} counts {ratio} times as much for a unit of {column}",
    "respondent_effects.label": "{of} counts {ratio} times as much for {label} as for {first} ({column})",
    "respondent_effects.none": "Of no option or feature is it sure (probability 0.95) that its weight rises or falls"
    " with {columns}.",
    "respondent_effects.by": "Effects are changes of the logarithm for a unit of the column, all other columns alike;"
    " of options those of their share of all worths.",
    "respondent_effects.title": "What people's weights depend on",
    "respondent_effects.methods": "The common weight of a person was v exp(x'b), with x the person's {columns} in"
    " standard deviations about the mean and each b a Normal(0, {sd}²) prior.",
    "individuals.methods": "A person's weight had a Gamma(kappa, kappa / v) prior about the common weight v, kappa a"
    " Gamma(2, 0.1) prior.",
    "individuals.methods.each": "A person's weight of option or aspect k had a Gamma(kappa_k, kappa_k / v_k) prior"
    " about the common weight v_k, each kappa_k a Gamma(2, 2 / kappa) prior about a common kappa, and that a Gamma(2,"
    " 0.1) prior.",
    "individuals.each": "Each option has a kappa of its own: people differ most about {most_option} (median"
    " {most_kappa}) and least about {least_option} ({least_kappa}).",
    "individuals.kappa": "How alike people are, kappa, is {estimate}; their weights differ by a standard deviation of"
    " about one over its root, relative to the common ones.",
    "individuals.log_likelihood": "Log-likelihood of all people's answers, no constant left out: {value}.",
    # groups and latent classes
    "groups.asked": "Do {names} attend to the same {word}s, and how much does each weigh in each group?",
    "groups.more": "{members} weighs more for {more} than for {less} (probability {sure}, if there is such a {word}:"
    " {probability})",
    "groups.same": "No {word} that several options share weighs certainly more in one group than in another.",
    "groups.none": "No {word} that some share and others lack is present often enough to be listed.",
    "groups.title": "{Word}s that some share and others lack, and their weight in each group",
    "groups.others": "The table of {word}s in files has {more}.",
    "groups.caption": "Weight of each {word} in each group.",
    "groups.ranks": "Preferred most: {first}.",
    "groups.first": "{option} by {name} (probability {probability})",
    "groups.higher": "{option} for {more} than for {less} (probability {probability})",
    "groups.differ": "Some options rank higher in one group than in another: {each}{more}.",
    "groups.alike": "No option surely ranks higher in one group than in another; likeliest is that {option} does for"
    " {more} than for {less} (probability {probability}).",
    "groups.ranks.title": "Rank of the options by the weight of all their aspects, for each group",
    "groups.kappa": "How similar the groups are, kappa, is {estimate}; weights of one feature differ between groups by"
    " a standard deviation of about one over its root, relative to their mean.",
    "groups.log_likelihood": "Log-likelihood of all groups, no constant left out: {value}.",
    "groups.methods": "The {number} groups had {word}s in common and weights of their own{how}",
    "groups.methods.free": ", independent of those of the other groups.",
    "groups.methods.similar": ", which varied about a common weight v as Gamma(kappa, kappa / v), with kappa learned"
    " under a Gamma(2, 0.1) prior.",
    "groups.methods.covariates": "The coefficients of covariates were the same in all groups.",
    "kinds.asked": "Which latent classes are there, who is in the same class, and what does each class prefer?",
    "kinds": "The respondents are in {number} of at most {most} latent classes (probability {probability}).",
    "kinds.each": "Class {kind} has {sample} % of the respondents, and {population} % of the population that"
    " they are a sample of ({interval} {low} to {high}); {prefers}.",
    "kinds.shares": "The share of the sample counts whole people, and so do the ends of its interval, which may leave"
    " out the mean. The quantities class_share[1], class_share[2], ... are those of the largest class of each draw, of"
    " the second largest, ..., whoever is in it.",
    "kinds.liked": "the best mean ranks have {liked}",
    "kinds.title": "Latent classes, the largest first: their share of the respondents and of the population, and"
    " how many people most probably are of each",
    "kinds.ranks": "Rank of the options by the weight of all their aspects, for each class",
    "kinds.features": "Aspects that some share and others lack, and their weight in each class",
    "kinds.caption": "Weight of each aspect in each class.",
    "kinds.kappa": "How similar the classes are, kappa, is {estimate}.",
    "kinds.n_kinds": "Occupied classes: {value}.",
    "kinds.agreement": "Pairs of people of whom a draw says as the most typical one whether they are in the same class:"
    " {value}.",
    "kinds.log_likelihood": "Log-likelihood of all people, no constant left out: {value}.",
    "kinds.methods": "Each respondent was in one of {number} latent classes, whose shares had a Dirichlet(1, ..., 1)"
    " prior and whose members were inferred. The classes had aspects in common and separate weights{how}",
    "kinds.methods.covariates": "The coefficients of covariates were the same in all classes.",
    "kinds.methods.free": ", independent of those of the other classes.",
    "kinds.methods.similar": ", which varied about a common weight v as Gamma(kappa, kappa / v), kappa having a"
    " Gamma(2, 0.1) prior.",
    "kinds.methods.matched": "Classes of different draws were matched by their members {source}.",
    # what was asked
    "elimination.asked.plain": "How strongly is each option preferred, if every option has a worth of its own?",
    "elimination.asked.tree": "By which aspects do people choose among these options, if related options tend to share"
    " aspects?",
    "elimination.asked.latent": "By which aspects do people choose among these options, how many are there, and how"
    " much does each weigh?",
    "elimination.asked.given": "How much does each aspect weigh, and which options do people prefer?",
    # maximum likelihood
    "ml.asked": "How much does each known aspect weigh, and how strongly is each option preferred?",
    "ml.weights": "Weights of the aspects; they sum to 1",
    "ml.zero": "No weight is left to {names}; zero is at the boundary, and has no standard error.",
    "ml.tree": "The aspects as a tree of the options; the longer a branch, the heavier its aspect.",
    "ml.best": "The largest estimates of utility: {best}.",
    "ml.utility": "Utility scale, the weight of all aspects of an option",
    "ml.utility.caption": "Utility of each option and its {interval}.",
    "ml.fit": "Measures of fit",
    "ml.pearson": "It is against probabilities of its own for every {unit}; Pearson X² {pearson}.",
    "ml.ties": "Ties: nu {nu}, standard error {error}.",
    "ml.likelihood": "Log-likelihood {log_likelihood}, {what} included; AIC {aic}, BIC {bic}.",
    "ml.pairs": "The pairs",
    "ml.outcomes": "The outcomes of pairs",
    "ml.choices": "The choices",
    "ml.worst": "{what} that it predicts worst: {worst}.",
    "ml.residuals": "Deviance residuals, the largest first",
    "ml.methods.luce": "Choices were modelled by the choice rule of {source}.",
    "ml.methods.elimination": "Choices were modelled as elimination by aspects {source} with given aspects.",
    "ml.methods.covariates": "{names} added to the log odds of a choice.",
    "ml.methods.fitted": "Weights were estimated by maximum likelihood {source}; standard errors {errors}.",
    "ml.methods.observed": "are those of the observed information",
    "ml.methods.people": "are over respondents {source}",
    "ml.methods.tests": "and tests of fit are over respondents {source}",
    "ml.methods.lapse": "The probability of a choice at random was fixed at {lapse}.",
    # the open combination
    "open.asked": "What was asked: {answers}.",
    "open.unknown": "thali does not know what a likelihood of your own predicts, and checks nothing here.",
    # additive clustering
    "additive.asked": "Which features do the objects share, how many are there, and how much does each add to the"
    " similarity of those that share it?",
    "additive.silent": "Similarities tell nothing of a feature of a single object; such are left out here.",
    "features.membership": "The share of the draws with a feature in which each option or object has it",
    "additive.counted": "features with two owners or more",
    "additive.counted.triplets": "features that answers depend on",
    "additive.all": "all features, those of a single object included,",
    "additive.no variance": "No two similarities differ, so that there is no variance to account for.",
    "additive.explained": "{whose} account for {share} % of the variance of the data.",
    "additive.of.expectation": "The expected similarities",
    "additive.of.map-features": "The similarities of the estimate map-features",
    "additive.of.conditional-map": "The similarities of the estimate conditional-map",
    "additive.of.joint-map": "The similarities of the estimate joint-map",
    "additive.estimate.expectation": "Expectation over all features (of which the most probable are listed)",
    "additive.estimate.map-features": "Most probable set of features, with the weights that suit it best",
    "additive.estimate.conditional-map": "Best draw among those with the most probable number of features",
    "additive.estimate.joint-map": "Best draw of features and weights together",
    "additive.deviation": ", at a standard deviation of {sigma}, the root of the posterior mean of its square",
    "additive.similarity": "Similarities of the data and of the model.",
    "additive.check": "Observed similarities against what the model predicts.",
    "additive.check.title": "Observed similarities and their predictive intervals, the worst first",
    "additive.pairs": "Pairs, the most similar first: {named}.",
    "additive.ends": "Most similar pairs: {most}; least similar: {least}.",
    "additive.pairs.title": "Pairs of objects in the order of their similarity",
    "additive.alpha": "Concentration α: {alpha}, fixed.",
    "additive.link": "Value of a pair: {link} ({setting}).",
    "additive.link.exp": "exp of the shared weight",
    "additive.link.ratio": "shared weight and a constant",
    "additive.answers": "Log-likelihood of all answers, natural logarithm: {value}.",
    "additive.density": "Log-likelihood of all the data, the logarithm of a density: {value}.",
    "additive.sigma.judgement": "one judgement",
    "additive.sigma.similarity": "a similarity",
    "additive.sigma.several": ", divided by the mean of 1 / judgements",
    "additive.sigma.learned": "Standard deviation σ of {of}: {value}, learned with the prior σ² ~ InverseGamma({shape},"
    " {share} times the variance of the similarities{more}).",
    "additive.sigma.chosen": "Standard deviation σ of {of}: {value}, which of {number} values predicts similarities"
    " left out best; {argument} gives another, {setting} learns it.",
    "additive.sigma.fixed": "Standard deviation σ of {of}: {value}, fixed.",
    "additive.sigma.data": "Standard deviation σ of {of}: {value}, that of the data.",
    "additive.prior": "Prior of {whose}: Gamma(shape {shape}, rate {rate}), with mean {mean} on the scale of the"
    " similarities; for similarities c times as large take a rate c times as small ({argument}).",
    "additive.prior.constant": "each weight and of the constant",
    "additive.prior.alone": "each weight",
    "tempering.seldom": "Neighbouring temperatures seldom swap.",
    "tempering.none": "The chains were not tempered.",
    "tempering.short": "Tempered: {number} temperatures from 1 to {highest}; the fit was too short to tell how often"
    " neighbours swapped.",
    "tempering": "Tempered: {number} temperatures from 1 to {highest}; neighbours swapped in {rate} % of the trials or"
    " more.",
    "additive.point": "The most probable set of features that was found has {number} of two objects or more.",
    "additive.point.title": "The features, their weights and who has them",
    "additive.constant": "Additive constant: {value}.",
    "additive.variance": "Variance accounted for: {share} %.",
    "additive.point.likelihood": "Log-likelihood of the data, natural logarithm: {value}.",
    "additive.methods.ibp": "Which objects have which features, and how many features there are, was inferred under the"
    " Indian buffet process prior {source}.",
    "additive.methods.tree": "Which objects have which features, and how many features there are, was inferred under"
    " the phylogenetic Indian buffet process prior {source} on a given tree of the objects.",
    "additive.methods.prior": "Weights had a Gamma prior with shape {shape} and rate {rate}.",
    "additive.methods.exp": "Which pair of a set was called the most similar was modelled by additive clustering: each"
    " pair in proportion to the exponential of the sum of the weights of the features that both of its objects have"
    " {source}.",
    "additive.methods.ratio": "Which pair of a set was called the most similar was modelled by additive clustering:"
    " each pair in proportion to a constant plus the sum of the weights of the features that both of its objects have.",
    "additive.methods.lapse": "With probability {lapse} a pair was named at random.",
    "additive.methods.constant": "Similarities were modelled by additive clustering {source}: the similarity of two"
    " objects is the sum of the weights of the features that both have, plus a constant, with normal error.",
    "additive.methods.no_constant": "Similarities were modelled by additive clustering {source}: the similarity of two"
    " objects is the sum of the weights of the features that both have, with normal error.",
    "additive.methods.learned": "The standard deviation of the error was learned: {value}.",
    "additive.methods.sigma": "The standard deviation of the error was {value}{chosen}.",
    "additive.methods.chosen": ", chosen by cross-validation over pairs of objects",
}
