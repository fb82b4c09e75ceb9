"""Conjoint experiments of political science: effects of randomised attributes on choices."""
