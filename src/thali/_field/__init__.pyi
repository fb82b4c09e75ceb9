from .answer_collection import collect as collect
from .experiment_export import export as export
from .questionnaire_page import questionnaire as questionnaire
