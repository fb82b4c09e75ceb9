"""The sentences of what models of choice experiments find out."""

ENGLISH = {
    "importance": "Most important: {named}.",
    "importance.title": "Importance: part of the ranges of utility, and part of choices that the attribute decides",
    "importance.brief": "Most important, by parts of the range of utility:",
    "importance.caption": "Part of each attribute in the ranges of utility.",
    "effects": "The strongest preference is for {attribute} {more} over {less} (probability {chance}, {interval} {low}"
    " to {high}).",
    "effects.none": "No preference is told from indifference: every {interval} of one holds 0.5.",
    "effects.title": "Probability that a level is preferred to another, all else being equal (0.5: indifferent)",
    "effects.bound": "At its bound: a direction ({named}) allows nothing below 0.5, so that this is no certainty.",
    "effects.inside": "“{inside}” is what every product has and the no-choice option lacks.",
    "effects.no_price": "{setting}, if that is a price, tells what people would pay for each level.",
    "utilities.title": "Utility of each level against the mean of its attribute, and zero-centred differences: of each"
    " person the mean range of the attributes is 100",
    "demand": "{product} would have {first_mean} % ({interval} {first_low} to {first_high}) at the {price} {first}, and"
    " {last_mean} % ({last_low} to {last_high}) at {last}: no other product's share depends more on the {price}.",
    "demand.title": "Share of each product at each {price}, the other products as they are",
    "pay": "{whose} would pay {paid} ({interval} {low} to {high}).",
    "pay.median": "The median person",
    "pay.everybody": "Everybody",
    "pay.no_end": "no end",
    "pay.limit": "at least {amount}",
    "pay.for": "{amount} for {attribute} {level}",
    "pay.none": "No amount is told from 0: every {interval} of what people would pay holds it, or has no end.",
    "pay.title": "Willingness to pay, in units of {price}",
    "pay.attending": "The median person of those who attend to the {price}",
    "pay.title.attending": "Willingness to pay of the median person of those who attend to the {price}, {share} % of"
    " the people, in units of it",
    "pay.title.median": "Willingness to pay of the median person, in units of {price}",
    "pay.infinite": "inf: whoever does not mind the price would pay any amount for what is better.",
    "shares.title": "Shares of preference {whose}",
    "shares": "{first} would have the largest share{where}: {mean} % ({interval} {low} to {high}){others}.",
    "shares.alike": "{first} would have about the same share{where}, the largest: {mean} % ({interval} of the first"
    " {low} to {high}){others}.",
    "shares.scenario": "In scenario {scenario}: {first}, {mean} % ({low} to {high}).",
    "shares.without_none": "People could choose none of the products, and not in this market: these are shares among"
    " those who choose. A row of the market for that option, as in the data, adds it.",
    "shares.caption": "Share of each product of the market and its {interval}.",
    "shares.known": "The shares of today are taken as known: constants meet them in every draw, so that their intervals"
    " have no width, and the intervals of a change leave out how uncertain today's shares are.",
    "holdouts": "Of {choices} choices in tasks that were held out {hits} % are predicted{hits_error}; their log"
    " score is {score} a choice{score_error}, that of guessing {guessing}.",
    "holdouts.hits_error": " (standard error {error})",
    "holdouts.score_error": " ({error})",
    "holdouts.title": "Shares of the choices in each task that was held out, and as predicted",
    "elasticities": "One per cent more of the {price} costs {product} {mean} % of its share ({interval} {low} to"
    " {high}), the most of all products{where}.",
    "elasticities.none": "One per cent more of the {price} costs no product any of its share{where}, not even"
    " {product}.",
    "elasticities.title": "Change of each share, in per cent, if the {price} of a product rises by one per cent",
    "elasticities.arc": "Change of each share, in per cent for each per cent that the {price} of a product rises, along"
    " an arc of ten per cent",
    "market": "Which share of the people whom the respondents represent would choose each product of a market? At first"
    " it is {what}. The largest share there: {first}, {mean} % ({interval} {low} to {high}).",
    "market.size": "Computed from {size}.",
    "market.others": "Nobody can be chosen by {named}: more than {most} different values.",
    "market.scale": "Utilities are multiplied by {scale}, as asked for.",
    "market.first_choice": "Everybody takes the product of the highest utility, as asked for.",
    "market.availability": "Found on a part of the occasions, as asked for: {named}.",
    "market.added": "A product that is added has the constant of the one above it.",
    "market.randomised": "The simulator of the page has shares by the logit's own rule; those by randomised first"
    " choice stand in the table of the market alone.",
    "market.many_limited": "The simulator of the page has every product on all occasions, as more than {most} are"
    " found on a part of them; the shares with that stand in the table of the market alone.",
    "market.first": "that of the first task",
    "market.asked": "the one that was asked for",
    "market.scenario": "scenario {scenario}",
    "check.title": "Numbers that describe the choices, and the interval of their replicates; the worst first",
    "segments.latent": "{model} looks for classes of people itself. ",
    # multinomial and hierarchical logit
    "logit.asked": "How much do the levels of each attribute add to the utility of a product, what would people pay for"
    " them, and what share would each product of a market have?",
    "logit.asked.people": "How much do the levels of each attribute add to each person's utility of a product,"
    " what would people pay for them, and what share would each product of a market have?",
    "logit.population": "Tastes in the population: means, standard deviations",
    "logit.population.prior": "With {people} people and {tasks} tasks each the prior of how far people differ is felt:"
    " half its size, {setting}, would make sd[{name}] about {share} % smaller, the others less.",
    "logit.population.money": "The population: means, standard deviations of amounts in units of {price}, and of the"
    " logarithm of the scale of utility",
    "logit.individuals.money": "Posterior mean amounts of each respondent in units of {price}, and scales of utility",
    "logit.no_check": "An estimate has no draws of the posterior, whose replicates the choices could be held against.",
    "logit.compare": "How well it predicts tasks that were left out is what thali compare says.",
    "logit.individuals": "Posterior mean tastes of each respondent",
    "logit.methods": "Choices were modelled by a multinomial logit {source}, fitted by maximum likelihood; standard"
    " errors are those of the observed information.",
    "logit.money": "Utility was in willingness-to-pay space {source}: coefficients are amounts in units of {price}.",
    "hierarchical.methods": "Choices were modelled by a hierarchical multinomial logit {source}: the tastes of the"
    " respondents are normally distributed.",
    "hierarchical.money": "Utility was in willingness-to-pay space {source}: what is normally distributed is amounts in"
    " units of {price}, and the logarithm of the scale of utility.",
    "hierarchical.signs": "Utility was constrained to be monotone in {named}: these tastes are exponentials.",
    "hierarchical.covariates": "Their mean depends on {named} of the respondent.",
    "hierarchical.prior": "Means had a normal prior with standard deviation {sd}{logarithms}, the covariance of tastes"
    " an inverse Wishart prior with {df} degrees of freedom (p coefficients) and scale {scale}.",
    "hierarchical.logarithms": " (2 of a logarithm)",
    "hierarchical.attention": "A respondent ignored each of {named} with a probability that was learned, uniform before"
    " the data, and its coefficients were 0 then {source}.",
    "hierarchical.attention.by": "The logit of that probability was linear in {named} of the respondent: effects of"
    " columns of standard deviation 1 had a standard normal prior, and the probability was uniform before the data for"
    " somebody with average columns.",
    "hierarchical.attention.sampler": "What a respondent attends to was sampled attribute by attribute, ignored tastes"
    " being drawn from the population given the others.",
    # attention
    "attention": "Ignored: {named}.",
    "attention.part": "{attribute} by {share} % ({low} to {high})",
    "attention.first": "{attribute} by {share} % of the people ({interval} {low} to {high})",
    "attention.title": "Part of the people who attend to each attribute",
    "attention.caption": "Part of the people who attend to each attribute, with its {interval}, and the probability"
    " that each respondent does.",
    "attention.alike": "Inattention and indifference are one to the data {source}: whoever hardly cares counts among"
    " those who ignore.",
    "attention.close": "Of {named} the tastes of those who attend reach down to 0 (a mean of less than 2 standard"
    " deviations), so that the part that ignores is hardly told from indifference, and depends on the prior.",
    "attention.prior": "The wider tastes may be before the data, the fewer people ignore: the prior size of a variance"
    " is {scale}. Set {setting} to see the parts at another size, too, and trust what both say.",
    "attention.same": "The prior size of a variance matters little: with {other} in place of {scale} no part that"
    " ignores differs by more than 10 points (the largest difference: {largest}).",
    "attention.both": "The prior size of a variance matters: with {other} in place of {scale}, {named}; trust what both"
    " say.",
    "attention.differs": "{attribute} is ignored by {share} % in place of {than} %",
    "attention.population": "Tastes of those who attend to the attribute: means, standard deviations; and the parts of"
    " the population that do",
    "attention.odds": "A unit more of {column} multiplies the odds of looking at {attribute} by {odds} ({interval}"
    " {low} to {high}).",
    "attention.odds.none": "No column of people tells who ignores what: every {interval} of a factor of the odds holds"
    " 1.",
    "attention.odds.title": "Factor of the odds of attending to each attribute for a unit more of a column of people",
    "attention.patterns": "Parts of the respondents who attend to just these attributes",
    "hierarchical.sampler": "The posterior was sampled by Hamiltonian Monte Carlo of each respondent's tastes, and of"
    " the population with everybody's tastes, beside Gibbs steps {source}.",
    # latent classes
    "latent.asked": "Which segments of people are there, how large is each, what does each prefer, and what share would"
    " each product of a market have?",
    "latent.several": "There are {number} classes of people, with {shares} of them.",
    "latent.one": "One class holds everybody.",
    "latent.maximum": "The best maximum of the likelihood (natural logarithm of all choices {log_likelihood}, BIC"
    " {bic}; people count) was found by {found} of {starts} starts.",
    "latent.entropy": "Entropy R²: {entropy} (1: everybody belongs to one class for certain).",
    "latent.classes": "Classes of people, the largest first: sizes and coefficients",
    "latent.odds": "A unit more of {column} multiplies the odds of class {label} against class 1 by {odds} ({interval}"
    " {low} to {high}).",
    "latent.odds.none": "No column of people tells the classes apart: every {interval} of a factor of their odds holds"
    " 1.",
    "latent.odds.title": "Factor of the odds of each class against class 1 for a unit more of a column of people",
    "latent.by_columns": "The class of a person depended on {named} by a multinomial logit {source}.",
    "latent.tests": "Likelihood-ratio tests of numbers of classes, by the bootstrap",
    "latent.rejected": "{more} classes fit better than {fewer} would by chance (p = {p}).",
    "latent.enough": "{more} classes fit no better than {fewer} would by chance (p = {p}).",
    "latent.few": "So few data sets do not tell whether {more} classes fit better than {fewer} would by chance (p ="
    " {p}); take 99.",
    "latent.replicates": "By {replicates} data sets simulated by the fit with fewer classes.",
    "latent.numbers": "Numbers of classes that were tried",
    "latent.membership": "Probability of each respondent's class",
    "latent.methods": "Choices were modelled by a latent-class logit {source}, fitted by maximum likelihood over all"
    " tasks of a person: expectation and maximisation from many starts, then Newton's method; standard errors are those"
    " of the observed information.",
    "latent.chosen": "The number of classes was chosen by {criterion}.",
    "latent.left_out": "the log-likelihood of people left out in {folds} parts",
    # product classes
    "classes.asked": "Which classes of products do people like or dislike, which attributes decide their choices, and"
    " what share would each product of a market have?",
    "classes": "The most important class is {name}; {share} % of the respondents care about it.",
    "classes.none": "Nobody owns a class: the choices look blind.",
    "classes.unstable": "No class is found by most chains.",
    "classes.hidden": "Classes of products that are less important or different from chain to chain, {hidden} of"
    " {every}, have {rest} of the importance together.",
    "classes.title": "Classes of products that most chains find, the most important first, similar ones counted as one",
    "classes.similar": "{name} (and {more} similar)",
    "classes.caption": "Classes of products that people care about.",
    "classes.evidence": "Log evidence of all choices (natural logarithm): {value}, standard error {error}; standard"
    " deviation between groups {sd}.",
    "classes.methods": "Choices were modelled by latent classes of products {source}: a person's utility of a product"
    " is the sum of the values of the person's classes to which it belongs, and the product of the highest utility is"
    " chosen, ties being split evenly; with probability {lapse} a choice was made at random.",
    "classes.monotone": "Utility was constrained to be monotone in {named}.",
    "classes.prior": "The number of classes was inferred under an Indian buffet process prior.",
    "classes.mcmc": "Posterior draws were made by independent Markov chains.",
    "classes.smc": "Posterior draws and the evidence were computed by sequential Monte Carlo.",
}
