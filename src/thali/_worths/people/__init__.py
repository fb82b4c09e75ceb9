"""Worths of respondents who differ: their answers, the sampler of individual worths, and what draws say."""
