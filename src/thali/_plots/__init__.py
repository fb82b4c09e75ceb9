"""Matplotlib plots of result tables, exported as `thali.plots`."""
