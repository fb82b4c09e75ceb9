"""What `thali.people` exports: its names stand in the stub beside this file."""
