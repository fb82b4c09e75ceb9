"""Choices among products, and what the models of them answer."""
