"""Kinds of people, whose members are not known: features in common, weights by kind."""
