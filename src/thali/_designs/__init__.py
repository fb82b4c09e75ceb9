"""The stub beside this file lists what `thali.designs` exports."""
