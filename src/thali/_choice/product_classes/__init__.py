"""Product classes with monotone attributes: sets of products that respondents care about.

model.py      `ProductClasses`, with arguments.py; convergence.py extends its convergence check
state.py      the problem and the state of a particle, inputs of likelihood.py and prior.py
moves/        the moves of the sampler, one family per file
sweep.py      the sweeps of the two samplers
engines/      chains, and particles
particles.py  the draws of a fit, which posterior.py writes as a tree
reports/      tables and predictions from the draws
simulate.py   choices simulated at a state, and draws from the prior
"""
