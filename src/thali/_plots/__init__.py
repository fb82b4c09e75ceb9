"""Plots; the stub next to this file lists the exports of `thali.plots`."""
