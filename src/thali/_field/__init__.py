"""The stub beside this file lists what `thali.field` exports."""
