"""The stub beside this file lists what `thali.testing` exports."""
