"""Data of the user, validated and frozen."""
