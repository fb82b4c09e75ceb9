"""The stub beside this file lists what `thali.people` exports."""
