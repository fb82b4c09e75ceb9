"""Leaderboards and classical tests of paired comparisons, exported as `thali.paired`."""
