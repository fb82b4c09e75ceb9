"""English sentences of the findings of choice models."""

ENGLISH = {
    "levels": "How often each level was shown, and how often it was chosen when shown",
    "importance": "Attribute importance {whose}, each attribute's utility range as a share of the"
    " sum of ranges: {named}.",
    "importance.title": "Attribute importance {whose}: utility range as a share of the sum of"
    " ranges, and share of choices that the attribute decides",
    "importance.brief": "Utility range {whose}, as a share of the sum of ranges:",
    "importance.caption": "Attribute importance: utility range as a share of the sum of ranges.",
    "effects": "Strongest preference {whose}: all else being equal, a respondent prefers"
    " {attribute} {more} over {less} with probability {chance} ({interval} {low} to {high}).",
    "effects.none": "Preferences {whose}: no level is clearly preferred to another, because every"
    " {interval} includes 0.5.",
    "effects.title": "Preferences {whose}: probability that one level is preferred to another, all"
    " else being equal (0.5: indifferent)",
    "effects.caption": "Probability that one level is preferred to another, all else being equal"
    " (0.5: indifferent)",
    "effects.bound": "In rows marked 'at bound', the constraint ({named}) excludes values below"
    " 0.5, so their intervals do not show a clear preference.",
    "effects.inside": "“{inside}” is the attribute that all products have and the no-choice option"
    " lacks.",
    "effects.no_price": "To add the willingness to pay for each level, set {setting} if this"
    " attribute is a price.",
    "utilities.title": "Part-worth utilities {whose}: centred within attributes, and as"
    " zero-centred diffs (mean attribute range of 100 per respondent)",
    "demand": "The share of {product} is the most sensitive to its own {price}: {first_mean} %"
    " ({interval} {first_low} to {first_high}) at {first}, {last_mean} % ({last_low} to"
    " {last_high}) at {last}.",
    "demand.title": "Predicted share of each product by {price}, with the other products unchanged",
    "pay": "{whose} would pay {paid} ({interval} {low} to {high}).",
    "pay.median": "The median person {whose}",
    "pay.everybody": "Respondents",
    "pay.no_end": "infinity",
    "pay.limit": "at least {amount}",
    "pay.for": "{amount} for {attribute} {level}",
    "pay.none": "No willingness-to-pay estimate differs clearly from 0: every {interval} includes 0"
    " or is unbounded.",
    "pay.title": "Willingness to pay, in units of {price}",
    "pay.title.median": "Willingness to pay of the median person {whose}, in units of {price}",
    "pay.infinite": "inf: respondents who are indifferent to the price would pay any amount for the"
    " better level.",
    "shares.title": "Shares of preference {whose}",
    "shares": "{first} has the largest predicted share{where}: {mean} % ({interval} {low} to"
    " {high}){others}.",
    "shares.alike": "{first} have the largest predicted shares{where}, about {mean} % each"
    " ({interval} for {leader}: {low} % to {high} %){others}.",
    "shares.scenario": "In scenario {scenario}, {first} leads with {mean} % ({low} to {high}).",
    "shares.without_none": "The tasks included a no-choice option, but this market does not, so"
    " these are shares among buyers. To include non-buyers, add a row for the no-choice"
    " option, as in the data.",
    "shares.buyers": " among buyers",
    "shares.caption": "Predicted share of each product of the market, with its {interval}.",
    "shares.known": "Current shares are treated as known: constants reproduce these shares in every"
    " draw. Intervals of the current shares therefore have zero width, and intervals of"
    " changes ignore their uncertainty.",
    "holdouts": "Holdout tasks: hit rate {hits} %{hits_error}, over {choices} choices; log score"
    " {score} per choice{score_error}, compared with {guessing} for guessing.",
    "holdouts.hits_error": " (standard error {error})",
    "holdouts.score_error": " ({error})",
    "holdouts.title": "Observed and predicted shares of choices in each holdout task",
    "elasticities": "If the {price} of {product} rises by 1 %, its share falls by {mean} %"
    " ({interval} {low} to {high}), the largest effect among the products{where}.",
    "elasticities.none": "No product{where} loses share if its {price} rises by 1 %.",
    "elasticities.title": "Percentage change in each share if the {price} of one product rises by 1"
    " %",
    "elasticities.arc": "Percentage change in each share per 1 % rise in the {price} of one product"
    " (arc elasticity over 10 %)",
    "market": "Market simulator: predicted share of each product in the population that the"
    " respondents represent. Initially, the market consists of {what}.",
    "market.largest": " Largest share: {first}, {mean} % ({interval} {low} to {high}).",
    "market.size": "Shares are {size}.",
    "market.others": "Respondents cannot be filtered by {named} because there are more than {most}"
    " different values.",
    "market.scale": "Utilities are multiplied by {scale}, as requested.",
    "market.first_choice": "Each respondent chooses the product with the highest utility, as"
    " requested.",
    "market.availability": "Products that are not always available, as requested: {named}.",
    "market.added": "A new product takes the constant of the product above it.",
    "market.randomised": "The simulator on this page uses the logit rule; shares by randomised"
    " first choice are in the market table only.",
    "market.many_limited": "The simulator on this page allows for limited availability of at most"
    " {most} products. This market has more, so the simulator treats every product as always"
    " available; shares that allow for availability are in the market table only.",
    "market.first": "the products of the first task",
    "market.asked": "the requested products",
    "market.scenario": "scenario {scenario}",
    "check.title": "Summary statistics of the choices and their predictive intervals, worst-fitting"
    " first",
    "segments.latent": " {model} estimates latent classes of respondents directly.",
    # multinomial and hierarchical logit
    "logit.asked": "How much does each attribute level add to the utility of a product{pay}, and"
    " what share would each product in a market have?",
    "logit.asked.people": "How much does each attribute level add to each respondent's utility of a"
    " product{pay}, and what share would each product in a market have?",
    "logit.asked.pay": ", how much are respondents willing to pay for each level",
    "logit.population": "Utility coefficients in the population: means and standard deviations",
    "logit.by": "{clear} of {total} effects of respondent characteristics on mean coefficients"
    " differ clearly from 0; the clearest: one more unit of {column} changes the mean coefficient"
    " of {coefficient} by {change} ({interval} {low} to {high}).",
    "logit.by.none": "No respondent characteristic clearly changes a mean coefficient: all"
    " {interval}s of the effects include 0.",
    "logit.population.prior": "The heterogeneity prior influences these results ({people}"
    " respondents, {tasks} tasks each): halving its scale ({setting}) would reduce sd[{name}]"
    " by about {share} %, and the other standard deviations by less.",
    "logit.population.money": "Population: means and standard deviations of amounts in units of"
    " {price}, and of the logarithm of the utility scale",
    "logit.individuals.money": "Individual amounts in units of {price}, and utility scales"
    " (posterior means)",
    "logit.no_check": "Posterior predictive checks need posterior draws, which a point estimate"
    " lacks.",
    "logit.compare": "To check predictions of held-out tasks, run thali compare.",
    "logit.individuals": "Individual utility coefficients (posterior means)",
    "logit.methods": "Choices were modelled by a multinomial logit {source}, fitted by maximum"
    " likelihood; standard errors {errors}.",
    "logit.money": "Utility was specified in willingness-to-pay space {source}: coefficients are"
    " amounts in units of {price}.",
    "hierarchical.methods": "Choices were modelled by a hierarchical multinomial logit {source}"
    " with coefficients that are normally distributed across respondents.",
    "hierarchical.money": "Utility was specified in willingness-to-pay space {source}:"
    " willingness-to-pay coefficients, in units of {price}, and the logarithm of the utility scale"
    " are normally distributed across respondents.",
    "hierarchical.signs": "Utility was constrained to be monotone in {named}: the corresponding"
    " coefficients are log-normally distributed.",
    "hierarchical.covariates": "Mean coefficients were modelled as functions of the respondent's"
    " {named}.",
    "hierarchical.prior": "Population means had independent Normal(0, {mean_sd}²)"
    " priors{logarithms}; the covariance matrix of the p coefficients had an inverse-Wishart prior"
    " with ν = {df} degrees of freedom and scale matrix {scale}νI (I: identity matrix).",
    "hierarchical.logarithms": " (standard deviation 2 for coefficients on the log scale)",
    "hierarchical.sampler": "The posterior was sampled by alternating between each respondent's"
    " coefficients (by Hamiltonian Monte Carlo) and the population's parameters given these,"
    " interwoven with Hamiltonian steps that move both together {source}.",
    # latent classes
    "latent.asked": "Which segments of respondents are there, how large is each, what does each"
    " prefer, and what share would each product in a market have?",
    "latent.several": "Respondents fall into {number} latent classes, with shares of {shares}.",
    "latent.one": "A single class contains all respondents.",
    "latent.maximum": "Best solution: log-likelihood {log_likelihood} (all choices), BIC {bic} (N"
    " = number of respondents); reached from {found} of {starts} sets of starting values.",
    "latent.entropy": "Entropy R²: {entropy} (1 means that the class of every respondent is known"
    " with certainty).",
    "latent.classes": "Latent classes, largest first: sizes and coefficients",
    "latent.odds": "One more unit of {column} multiplies the odds of class {label} relative to"
    " class 1 by {odds} ({interval} {low} to {high}).",
    "latent.odds.none": "No respondent characteristic clearly predicts class membership: all"
    " {interval}s of the odds ratios include 1.",
    "latent.odds.title": "Odds ratio of each class relative to class 1, per unit of a respondent"
    " characteristic",
    "latent.by_columns": "Class membership was modelled as a function of the respondent's {named}"
    " by a multinomial logit {source}.",
    "latent.numbers": "Fit by number of classes",
    "latent.membership": "Class membership probabilities of each respondent",
    "latent.methods": "Choices were modelled by a latent-class logit {source}, in which a"
    " respondent belongs to the same class in all tasks, fitted by maximum likelihood"
    " (expectation-maximisation from multiple starts, then Newton's method); standard errors"
    " {errors}.",
    "latent.chosen": "The number of classes was chosen by {criterion}.",
    "latent.left_out": "the log-likelihood of held-out respondents in {folds} folds",
    # product classes
    "classes.asked": "Which classes of products do respondents like or dislike, which attributes"
    " drive their choices, and what share would each product in a market have?",
    "classes": "Most important class of products: '{name}', which matters to {share} % of"
    " respondents.",
    "classes.none": "No respondent uses any product class: the choices look random.",
    "classes.unstable": "No product class appears in most chains.",
    "classes.hidden": "{hidden} of the {every} product classes are not listed, because they are"
    " less important or differ between MCMC chains; together they account for {rest} of the total"
    " importance.",
    "classes.title": "Product classes found by most chains, most important first (similar classes"
    " merged)",
    "classes.similar": "{name} (and {more} similar)",
    "classes.evidence": "Log marginal likelihood (evidence) of all choices: {value} (standard error"
    " {error}; standard deviation between groups of SMC particles {sd}).",
    "classes.methods": "Choices were modelled by latent classes of products {source}: the utility"
    " of a product is the sum of the respondent's values for the product classes that contain it,"
    " and the product with the highest utility is chosen, with ties split evenly. A lapse rate of"
    " {lapse} was assumed: with this probability, the choice is uniformly random among the"
    " alternatives.",
    "classes.monotone": "Utility was constrained to be monotone in {named}.",
    "classes.prior": "A product can belong to several classes at once; memberships had an Indian"
    " buffet process prior, so the number of classes was inferred.",
    "classes.mcmc": "Posterior draws were generated by independent Markov chains.",
    "classes.smc": "Posterior draws and the marginal likelihood (evidence) were computed by"
    " sequential Monte Carlo.",
}
