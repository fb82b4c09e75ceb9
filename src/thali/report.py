"""Reports to mail: one HTML file each."""

from thali._surfaces.report import report

__all__ = ["report"]
