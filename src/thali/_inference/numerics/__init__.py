"""Random draws and special functions in compiled code."""
