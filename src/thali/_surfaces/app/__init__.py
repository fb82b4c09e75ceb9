"""The app: from a file to a report in the browser, on this computer only.

The server (`server`, behind `guard`) moves files and shows pages; it never reads data. A child
process (`child`) handles the data: it uses the functions of the command line with the texts of the
app (`english`) and writes its results to the folder of the study (`studies`). Therefore a page, a
server or a child may end at any time.
"""
