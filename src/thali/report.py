"""Reports to mail: one HTML file each."""

from thali.surfaces.report import report

__all__ = ["report"]
