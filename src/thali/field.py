"""Questionnaires: one HTML file asks people, and the files that come back become one table of answers.

questionnaire  a study as a page that needs nothing but a browser
export         the same study for jsPsych and PsychoPy
collect        the files of many people, joined and looked through
"""

from ._field import __all__, __dir__, __getattr__  # noqa: F401
