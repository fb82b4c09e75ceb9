"""What `thali.field` exports: its names stand in the stub beside this file."""
