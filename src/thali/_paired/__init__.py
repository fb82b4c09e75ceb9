"""The stub beside this file lists what `thali.paired` exports."""
