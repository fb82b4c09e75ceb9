"""Questionnaires: one HTML file asks people, and the files that come back become one table of
answers.

questionnaire  a study as a page that needs nothing but a browser
export         the same study for jsPsych
collect        the files of many people, joined and looked through
"""

import lazy_loader

from . import _field

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(_field.__name__, str(_field.__file__))
