"""Reports to mail: one HTML file each."""

from thali._surfaces.report import report, slides

__all__ = ["report", "slides"]
