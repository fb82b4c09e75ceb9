"""How findings are shown: each file renders them, none computes.

readable.py  a table as people read it: headings, intervals in one column, cells as text
text.py      a terminal; aligned.py its columns
html/        a page
findings.py  `thali.findings`: those of any answer
"""
