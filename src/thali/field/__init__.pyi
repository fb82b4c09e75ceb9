from .collect import collect as collect
from .questionnaire import questionnaire as questionnaire
