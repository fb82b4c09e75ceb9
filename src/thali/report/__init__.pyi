from .write import report as report
