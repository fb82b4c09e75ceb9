"""Findings as a page: one HTML file that needs nothing from anywhere.

report.py    findings -> sections
document.py  what a report consists of
page.py      sections -> HTML, by the templates in page/
drawing.py   pictures as SVG or PNG
numbers.py   numbers that people read
"""
