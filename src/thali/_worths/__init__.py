"""The wing of worths of options, which is still empty."""
