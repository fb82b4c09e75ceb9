"""Numerical functions: random draws, special functions, linear algebra, ranks."""
