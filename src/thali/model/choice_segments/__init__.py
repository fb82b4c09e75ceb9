"""Segments of people on the posterior of any model of choice experiments."""
