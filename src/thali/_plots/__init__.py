"""What `thali.plots` exports: its names stand in the stub beside this file."""
