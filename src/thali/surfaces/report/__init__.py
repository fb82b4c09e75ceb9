"""Reports to mail: one HTML file each."""
