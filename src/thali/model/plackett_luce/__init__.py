"""Plackett-Luce regression."""
