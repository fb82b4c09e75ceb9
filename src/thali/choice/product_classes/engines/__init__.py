"""How product classes are sampled: annealed chains, and sequential Monte Carlo."""
