"""Output of findings: terminal, text, files, HTML reports, app.

text_tables.py      a table as people read it: headings, intervals in one column, cells as text
findings_text.py    a terminal
findings_screen.py  one screen of it
figure_files.py     pictures drawn
html_report.py      a page, by the templates in page/
report.py           `thali.findings`: those of any answer; `thali.report`: the page to mail
"""
