"""Maximisers that several models share."""
