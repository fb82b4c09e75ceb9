"""Bradley-Terry-Luce worths of options: model, posterior density and samplers.

model.py                  `BradleyTerryLuce`
estimation_methods.py     what each `method` fits and returns
density_from_data.py      the data as one of the densities of the next two
posterior_density.py      comparisons and rankings, with judges, periods, ties and covariates
set_choice_density.py     choices from sets
spread_prior.py           the prior of standard deviations
laplace_approximation.py  modes, and a grid over the standard deviations
posterior_sample.py       draws from the grid, corrected by chains where the density is skewed
hamiltonian_chains.py     Hamiltonian chains
prior_sd_moves.py         their moves of standard deviations
population_posterior.py   `WorthProblem`: density, grid, chains, and the tree of draws
respondent_sandwich.py    draws widened for respondents who answer repeatedly
worth_draws.py            `WorthDraws`, and what follows from them
next_question.py          which pair to ask about next
log_evidence.py           the log evidence
judge_agreement.py        how well each judge's answers are predicted by the others'
reliability.py            reliability, as comparative judgement reports it
simulation.py             answers simulated from prior or posterior
findings.py               findings of reports
spec.py                   arguments and options of the command line
people/                   individual worths
"""
