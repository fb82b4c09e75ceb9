"""Product classes with monotone attributes: sets of products that respondents of a choice
experiment care about.

model.py      `ProductClasses`, with arguments.py; convergence.py has what its check says besides
state.py      the problem and the state of a particle; likelihood.py and prior.py are functions of
              these
moves/        one move of the sampler a file
sweep.py      the sweeps of the two samplers
engines/      chains, and particles
particles.py  the draws of a fit, which posterior.py writes as a tree
reports/      what is read off the draws
simulate.py   choices simulated at a state, and draws from the prior
"""
