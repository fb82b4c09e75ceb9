"""Product classes with monotone attributes: sets of products that respondents care about.

model.py                 `ProductClasses`
class_fits.py            a fit: by chains, and by groups of particles
fit_preparation.py       checks of the data and forecasts before a fit
convergence_checks.py    checks of convergence
state.py                 the problem and the state of a particle, inputs of the next two
likelihood.py, prior.py  probabilities of the tasks, and prior of the classes
moves/                   the moves of the sampler, one family per file
sweep.py                 the sweeps of the two samplers
samplers/                chains, and particles
ragged_draws.py          the draws of a fit
posterior_datatree.py    the draws as a tree in the ArviZ schema
reports/                 tables and predictions from the draws
simulation.py            choices simulated at a state, and draws from the prior
findings.py              findings of reports
spec.py                  arguments and options of the command line
"""
