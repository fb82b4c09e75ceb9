"""The names by which files, jobs and the digests of data know classes, wherever these are defined."""

from typing import Any

from thali._late import load
from thali.errors import DataError

# A class that a file may hold needs a line here; one that moves gets another place, and keeps its name.
PLACES = {
    "Additive": "thali.aspects.likelihoods.additive:Additive",
    "Advice": "thali.posterior.verdict:Advice",
    "Answers": "thali.data.answers:Answers",
    "Argument": "thali.errors:Argument",
    "Attribute": "thali.data.experiments.scheme:Attribute",
    "BestWorstProblem": "thali.aspects.maximum_likelihood.set_problems:BestWorstProblem",
    "ChoiceExperiment": "thali.data.experiments.experiment:ChoiceExperiment",
    "Choices": "thali.data.choices.choices:Choices",
    "ChosenPlaces": "thali.data.answers:ChosenPlaces",
    "ClassDraws": "thali.choice.latent_class.fit:ClassDraws",
    "Clause": "thali.errors:Clause",
    "Clusters": "thali.aspects.maximum_likelihood.clusters:Clusters",
    "Coding": "thali.choice.coding:Coding",
    "Continuation": "thali.model.sampling:Continuation",
    "CountedComparisons": "thali.paired.counted:Counted",
    "Custom": "thali.aspects.likelihoods.custom:Custom",
    "Dates": "thali.data.pairs.dates:Dates",
    "Dependence": "thali.posterior.dependence:Dependence",
    "Elimination": "thali.aspects.likelihoods.elimination:Elimination",
    "Estimates": "thali.aspects.maximum_likelihood.estimates:Estimates",
    "Expansion": "thali.classify.sparse_logit.approximation:Expansion",
    "ExperimentDesign": "thali.data.experiments.design:Design",
    "FiniteFeatures": "thali.aspects.priors.finite:FiniteFeatures",
    "Gamma": "thali.aspects.likelihoods.parameters:Gamma",
    "Given": "thali.aspects.priors.given:Given",
    "GroupedData": "thali.data.groups:GroupedData",
    "Groups": "thali.people.populations:Groups",
    "Individuals": "thali.people.populations:Individuals",
    "InPython": "thali.errors:InPython",
    "IndianBuffet": "thali.aspects.priors.ibp:IndianBuffet",
    "JudgedValues": "thali.data.answers:JudgedValues",
    "KnownAspects": "thali.aspects.maximum_likelihood.aspects:KnownAspects",
    "Leaderboard": "thali.paired.board:Leaderboard",
    "LeaderboardSettings": "thali.paired.leaderboard:Made",
    "LatentClasses": "thali.people.populations:LatentClasses",
    "LogEvidence": "thali.posterior.evidence:LogEvidence",
    "LuceProblem": "thali.aspects.maximum_likelihood.set_problems:LuceProblem",
    "Maximum": "thali.aspects.maximum_likelihood.maximum:Maximum",
    "Message": "thali.errors:Message",
    "ModelName": "thali.errors:ModelName",
    "MostSimilarPair": "thali.aspects.likelihoods.most_similar_pair:MostSimilarPair",
    "Normal": "thali.aspects.likelihoods.parameters:Normal",
    "NormalPosterior": "thali.classify.sparse_logit.approximation:NormalPosterior",
    "NotSaved": "thali.model.saved:NotSaved",
    "Observed": "thali.data.observed:Observed",
    "PairCovariates": "thali.data.pairs.covariates:Covariates",
    "PairProblem": "thali.aspects.maximum_likelihood.problem:Problem",
    "PairedComparisons": "thali.data.pairs.comparisons:PairedComparisons",
    "Part": "thali.choice.coding:Part",
    "PhylogeneticBuffet": "thali.aspects.priors.phylogenetic:PhylogeneticBuffet",
    "PlackettLuceDesign": "thali.classify.plackett_luce.design:Design",
    "Remedy": "thali.errors:Remedy",
    "RespondentCovariates": "thali.people.columns:Covariates",
    "Run": "thali.inference.chains:Run",
    "Scheme": "thali.data.experiments.scheme:Scheme",
    "Scores": "thali.classify.scores:Scores",
    "Setting": "thali.errors:Setting",
    "Similarities": "thali.data.similarities.similarities:Similarities",
    "Standard": "thali.classify.input:Standard",
    "TasteScale": "thali.choice.logits.hierarchical_draws:TasteScale",
    "Thermodynamic": "thali.posterior.evidence:Thermodynamic",
    "TrainingData": "thali.data.rows:TrainingData",
    "Triplets": "thali.data.triplets.triplets:Triplets",
    "Value": "thali.errors:Value",
    "Verdict": "thali.posterior.verdict:Verdict",
}


def name_in_files(cls: type[Any]) -> str:
    """The name by which files know a class of the library."""
    names = {place: name for name, place in PLACES.items()}
    return names[f"{cls.__module__}:{cls.__name__}"]


def class_named(name: str) -> Any:
    """The class that a file calls so."""
    if name not in PLACES:
        raise DataError(f"The file names {name!r}, which is not part of thali.")
    return load(PLACES[name])
