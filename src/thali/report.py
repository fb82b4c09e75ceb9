"""Reports to mail: one HTML file each."""

from thali.surfaces.report.write import report

__all__ = ["report"]
