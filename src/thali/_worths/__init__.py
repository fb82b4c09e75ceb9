"""Worths of options: their density, their posterior, leaderboards."""
