"""What `thali.paired` exports: its names stand in the stub beside this file."""
