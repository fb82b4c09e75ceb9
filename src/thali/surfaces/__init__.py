"""How findings are shown: each file renders them, none computes.

readable.py  a table as people read it: headings, intervals in one column, cells as text
text.py      a terminal
files.py     tables and pictures in a folder
"""
