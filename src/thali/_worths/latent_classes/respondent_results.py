"""Results about respondents in latent classes with separate worths."""

from thali._people.latent_class_results import AlignedClassResults
from thali._people.respondent_results import RespondentResults


class WorthClasses(RespondentResults, AlignedClassResults):
    """Results about respondents in latent classes with separate worths.

    `BradleyTerryLuce.respondents`, after a fit with ``people=LatentClasses()``.
    """
