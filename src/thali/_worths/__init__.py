"""Worths of options: their posterior density, and draws of it, for leaderboards."""
