"""The app: from a file to a report in the browser, on this computer alone.

The server (`server`, behind `guard`) moves files and shows pages; it never reads data. Whatever
touches data runs in a child process (`child`), which uses the functions of the command line in the
words of the app (`words`) and leaves what it found in the folder of the study (`studies`). So a
page, a server or a child may end at any time.
"""
