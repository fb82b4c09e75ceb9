"""What `thali.testing` exports: its names stand in the stub beside this file."""
