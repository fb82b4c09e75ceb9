"""The stub beside this file lists what `thali.plots` exports."""
