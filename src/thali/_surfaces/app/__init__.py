"""The app: a local web server that reads a file, fits models and shows the report.

The server (`server`, behind `request_guard`) moves files and shows pages; it never reads data. A
child process (`child_process`) handles the data: it uses the functions of the command line with the
texts of the app (`english_texts`) and writes its results to the folder of the study
(`study_folders`). Therefore a page, a server or a child may end at any time.
"""
