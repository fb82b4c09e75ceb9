from .collect import collect as collect
from .export import export as export
from .questionnaire import questionnaire as questionnaire
