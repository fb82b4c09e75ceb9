"""Implementations of the commands, one file each."""
