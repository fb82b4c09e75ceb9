"""The names by which files, jobs and the digests of data know classes: those of the modules that first held them."""

from typing import Any

from thali._late import load

# "module:Class" as files have it, and the module in which the class stands now, both without "thali.": a class that
# moves gets a line here, or another module in the line that it has.
STANDS_IN = {
    "data.choices:Choices": "data.choices.choices",
    "data.covariates:Covariates": "data.pairs.covariates",
    "data.experiment:ChoiceExperiment": "data.experiments.experiment",
    "data.experiment_scheme:Attribute": "data.experiments.scheme",
    "data.experiment_scheme:Scheme": "data.experiments.scheme",
    "data.pairs:PairedComparisons": "data.pairs.comparisons",
    "data.similarities:Similarities": "data.similarities.similarities",
    "data.triplets:Triplets": "data.triplets.triplets",
    "model.choice_logits.coding:Coding": "choice.coding",
    "model.choice_logits.coding:Part": "choice.coding",
    "model.choice_logits.hierarchical_covariates:Covariates": "people.columns",
    "model.choice_logits.hierarchical_tastes:TasteScale": "choice.logits.hierarchical_draws",
    "model.classifiers.scores:Scores": "classify.scores",
    "model.classifiers.standard:Standard": "classify.input",
    "model.classifiers.training_data:TrainingData": "data.rows",
    "model.elimination_ml.aspects:KnownAspects": "aspects.maximum_likelihood.aspects",
    "model.elimination_ml.best_worst_problem:BestWorstProblem": "aspects.maximum_likelihood.set_problems",
    "model.elimination_ml.clusters:Clusters": "aspects.maximum_likelihood.clusters",
    "model.elimination_ml.estimates:Estimates": "aspects.maximum_likelihood.estimates",
    "model.elimination_ml.luce_problem:LuceProblem": "aspects.maximum_likelihood.set_problems",
    "model.elimination_ml.maximum:Maximum": "aspects.maximum_likelihood.maximum",
    "model.elimination_ml.problem:Problem": "aspects.maximum_likelihood.problem",
    "model.latent_class.draws:ClassDraws": "choice.latent_class.fit",
    "model.latent_features.likelihoods.additive:Additive": "aspects.likelihoods.additive",
    "model.latent_features.likelihoods.custom:Custom": "aspects.likelihoods.custom",
    "model.latent_features.likelihoods.custom:NotSaved": "model.saved",
    "model.latent_features.likelihoods.elimination:Elimination": "aspects.likelihoods.elimination",
    "model.latent_features.likelihoods.most_similar_pair:MostSimilarPair": "aspects.likelihoods.most_similar_pair",
    "model.latent_features.likelihoods.observed:Observed": "data.observed",
    "model.latent_features.likelihoods.parameters:Gamma": "aspects.likelihoods.parameters",
    "model.latent_features.likelihoods.parameters:Normal": "aspects.likelihoods.parameters",
    "model.latent_features.priors.finite:FiniteFeatures": "aspects.priors.finite",
    "model.latent_features.priors.given:Given": "aspects.priors.given",
    "model.latent_features.priors.ibp:IndianBuffet": "aspects.priors.ibp",
    "model.latent_features.priors.phylogenetic:PhylogeneticBuffet": "aspects.priors.phylogenetic",
    "model.plackett_luce.design:Design": "classify.plackett_luce.design",
    "model.product_classes.design:Design": "data.experiments.design",
    "model.sparse_logit.approximation:NormalPosterior": "classify.sparse_logit.approximation",
    "model.sparse_logit.expansion:Expansion": "classify.sparse_logit.approximation",
    "paired.leaderboard:Leaderboard": "paired.board",
}
_NAME_IN_FILES = {f"{module}:{name.partition(':')[2]}": name for name, module in STANDS_IN.items()}


def name_in_files(cls: type[Any]) -> str:
    """The name "thali.module:Class" by which files know a class of the library."""
    place = f"{cls.__module__.removeprefix('thali.')}:{cls.__name__}"
    return f"thali.{_NAME_IN_FILES.get(place, place)}"


def class_named(name: str) -> Any:
    """The class that a file calls "thali.module:Class"."""
    module, _, cls = name.removeprefix("thali.").partition(":")
    return load(f"thali.{STANDS_IN.get(f'{module}:{cls}', module)}:{cls}")
