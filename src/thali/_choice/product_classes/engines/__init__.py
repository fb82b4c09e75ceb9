"""How product classes are sampled: chains that anneal first, and sequential Monte Carlo."""
