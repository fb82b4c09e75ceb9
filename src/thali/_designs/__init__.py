"""What `thali.designs` exports: its names stand in the stub beside this file."""
