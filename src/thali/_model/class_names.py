"""Names that files use for classes of the library, stable when modules move."""

from typing import Any

from thali._lazy_imports import load_object
from thali.errors import DataError

# A class that a file may contain needs a line here; a class that moves gets another place and
# keeps its name.
PLACES = {
    "Additive": "thali._aspects.likelihoods.additive:Additive",
    "Answers": "thali._data.respondent_answers:Answers",
    "Argument": "thali.errors:Argument",
    "Attribute": "thali._data.experiments.product_encoding:Attribute",
    "Beta": "thali._aspects.likelihoods.parameter_priors:Beta",
    "BoardSettings": "thali._paired.leaderboard_posterior:BoardSettings",
    "ChoiceExperiment": "thali._data.experiments.experiment:ChoiceExperiment",
    "Choices": "thali._data.choices.choices:Choices",
    "ChosenPlaces": "thali._data.respondent_answers:ChosenPlaces",
    "ClassDraws": "thali._choice.latent_class.maximum_likelihood:ClassDraws",
    "Clause": "thali.errors:Clause",
    "Clusters": "thali._model.answers_by_respondent:AnswersByRespondent",
    "Coding": "thali._choice.product_coding:Coding",
    "Condition": "thali._reading.row_filter:Condition",
    "ConjointResult": "thali._conjoint.result:ConjointResult",
    "Continuation": "thali._model.chain_runs:Continuation",
    "CountedComparisons": "thali._paired.vote_counts:CountedComparisons",
    "Custom": "thali._aspects.likelihoods.custom:Custom",
    "Dates": "thali._data.pairs.dates:DatedComparisons",
    "Dependence": "thali._posterior.respondent_dependence:Dependence",
    "Elimination": "thali._aspects.likelihoods.elimination:Elimination",
    "EstimatedWorths": "thali._worths.estimation_methods:EstimatedWorths",
    "Estimates": "thali._aspects.maximum_likelihood.estimates:Estimates",
    "Expansion": "thali._classify.sparse_logit.normal_approximation:Expansion",
    "ExperimentDesign": "thali._data.experiments.fitted_design:ExperimentDesign",
    "FiniteFeatures": "thali._aspects.priors.finite_features:FiniteFeatures",
    "Gamma": "thali._aspects.likelihoods.parameter_priors:Gamma",
    "Given": "thali._aspects.priors.given_features:Given",
    "Individuals": "thali._people.people_argument:Individuals",
    "InPython": "thali.errors:InPython",
    "HalfNormal": "thali._aspects.likelihoods.parameter_priors:HalfNormal",
    "IndianBuffet": "thali._aspects.priors.indian_buffet:IndianBuffet",
    "ItemDependence": "thali._posterior.respondent_dependence:ItemDependence",
    "JudgedValues": "thali._data.respondent_answers:JudgedValues",
    "KnownAspects": "thali._aspects.maximum_likelihood.given_aspects:KnownAspects",
    "Leaderboard": "thali._paired.leaderboard_result:Leaderboard",
    "LeaderboardRecipe": "thali._paired.leaderboard:LeaderboardRecipe",
    "LogEvidence": "thali._posterior.log_evidence:LogEvidence",
    "LogNormal": "thali._aspects.likelihoods.parameter_priors:LogNormal",
    "Maximum": "thali._aspects.maximum_likelihood.maximisation:Maximum",
    "Message": "thali.errors:Message",
    "ModelName": "thali.errors:ModelName",
    "MostSimilarPair": "thali._aspects.likelihoods.most_similar_pair:MostSimilarPair",
    "Normal": "thali._aspects.likelihoods.parameter_priors:Normal",
    "NormalPosterior": "thali._classify.sparse_logit.normal_approximation:NormalPosterior",
    "NotSaved": "thali._model.model_files:UnsavedFunction",
    "Observed": "thali._data.custom_data:Observed",
    "OptionCovariates": "thali._data.option_covariates:OptionCovariates",
    "PairCovariates": "thali._data.pairs.covariates:PairCovariates",
    "PairProblem": "thali._aspects.maximum_likelihood.pair_likelihood:PairProblem",
    "PairedComparisons": "thali._data.pairs.comparisons:PairedComparisons",
    "Part": "thali._choice.product_coding:AttributeCoding",
    "PhylogeneticBuffet": "thali._aspects.priors.phylogenetic:PhylogeneticBuffet",
    "PlackettLuceDesign": "thali._classify.plackett_luce.nonnegative_columns:PlackettLuceDesign",
    "Remedy": "thali.errors:Remedy",
    "RespondentCovariates": "thali._people.respondent_columns:RespondentCovariates",
    "RowFilter": "thali._reading.row_filter:RowFilter",
    "Run": "thali._inference.markov_chains:Run",
    "Scheme": "thali._data.experiments.product_encoding:Scheme",
    "Setting": "thali.errors:Setting",
    "Similarities": "thali._data.similarities.similarities:Similarities",
    "Standard": "thali._classify.covariates_and_labels:Standardization",
    "TasteScale": "thali._choice.logits.hierarchical_draws:TasteScale",
    "Thermodynamic": "thali._posterior.log_evidence:ThermodynamicIntegral",
    "TrainingData": "thali._data.classification_data:TrainingData",
    "Tree": "thali._trees.tree:Tree",
    "Triplets": "thali._data.triplets.triplets:Triplets",
    "Value": "thali.errors:Value",
    "ConvergenceCheck": "thali._posterior.convergence_check:ConvergenceCheck",
}

# Classes and parameters in files that left in 0.5.0, and what to use instead.
RETIRED = {
    "Groups": "people=Individuals(by=[...]) for what depends on a group, or fit each group of"
    " data.by_group separately",
    "LatentClasses": "people=Individuals() and its segments",
    "global_scale": "SparseMultinomialLogit(), whose Laplace prior replaces the horseshoe",
}


def class_name_in_file(cls: type[Any]) -> str:
    """Return the name that files use for a class of the library."""
    name_of_location = {location: name for name, location in PLACES.items()}
    return name_of_location[f"{cls.__module__}:{cls.__name__}"]


def load_class(name: str) -> Any:
    """Import and return the class that files call by this name."""
    if name in RETIRED:
        raise build_retired_error(name)
    if name not in PLACES:
        raise DataError(
            f"The file contains {name!r}, which is not part of thali; it may be from another"
            " program."
        )
    return load_object(PLACES[name])


def build_retired_error(name: str) -> DataError:
    """Return the error that a file contains a class or parameter that left."""
    return DataError(
        f"The file contains {name!r}, which left in thali 0.5.0. Use {RETIRED[name]}; fit the data"
        " again."
    )
