"""The app's words: what its fields are called, and how messages name them."""

import re
from collections.abc import Iterable
from typing import Any

from thali.cli.messages import OptionWords
from thali.errors import ThaliError, Words
from thali.model.registry import SPECS
from thali.model.spec import ModelSpec, Option

_LABELS = {
    "alpha": "How many features are expected beforehand (concentration)",
    "a": "Shape of the prior of the weights",
    "alternative": "Alternative",
    "alternatives": "Alternatives, in the order of their numbers",
    "aspects": "Aspects",
    "attributes": "Columns that describe the products",
    "bins": "Bins of numeric attributes",
    "ci": "Probability of the intervals",
    "chains": "Independent chains",
    "choice_id": "Occasion",
    "chosen": "What was chosen",
    "constants": "A constant for each label of an alternative",
    "cores": "Chains at the same time",
    "count": "How often",
    "covariates": "What else may decide a comparison",
    "draws": "Draws of each chain",
    "farther": "The other one",
    "first": "First of two options",
    "folds": "Parts of the cross-validation",
    "global_scale": "Scale of the prior of tau",
    "group": "Groups of people",
    "home": "Who played at home",
    "anchor": "The object that two others were compared with",
    "away": "Who played away",
    "kind": "Estimate in the tables",
    "lapse": "Probability of a blind choice",
    "leaf_length": "How far the tree separates options",
    "levels": "Order of levels",
    "interactions": "Attributes that depend on each other",
    "knots": "Attributes whose slope changes",
    "linear": "Attributes with one slope",
    "losses": "How often it lost",
    "market": "A market of products",
    "max_time": "Longest time in seconds",
    "method": "Method",
    "models": "Models",
    "monotone": "Attributes of which more is better, or less",
    "nearer": "The one that is more like it",
    "none": "The no-choice option",
    "objects": "Objects that were shown together",
    "odd": "The odd one out",
    "option": "Option",
    "option_covariates": "A table of what is known of the options",
    "overwrite": "Begin again",
    "price": "The price",
    "prior": "What is expected of the coefficients",
    "random_seed": "Seed",
    "rejected": "What was not chosen",
    "respondent": "Who answered",
    "second": "Second of two options",
    "sigma": "Standard deviation of a similarity",
    "similar": "Similar ones count as one",
    "symmetrize": "Two sides of a square that differ",
    "target": "Classes",
    "thin": "Sweeps for each draw",
    "ties": "Ties",
    "title": "Name of the study",
    "tree": "A tree of related options",
    "tune": "Draws thrown away first",
    "unique": "An aspect of each option's own",
    "weights": "Weights of the groups or kinds",
    "where": "Rows that count",
    "labels": "A table of labels",
    "kinds": "Kinds of people to look for",
    "unranked": "Options without a rank",
}
# Help in place of that of the command line, which explains what is typed.
HELP = {
    "group": "A column by whose values people are compared, or that of who answered for each person apart: aspects in"
    " common, weights by group.",
    "covariates": "What describes the first option over the second in a comparison, such as a difference of two"
    " lengths.",
    "option_covariates": "The labels of the options in its first column and numbers such as a price in the others, on"
    " which worths depend; for “one of each option's own”.",
    "chosen": "Of two options: which was chosen, by its name or by its side. Of several, a row each: 1 where it was"
    " chosen, else 0.",
    "aspects": "What options have in common, and are eliminated by.",
    "features": "What objects have in common, and are similar by.",
    "tree": "Related options share aspects more readily: a table of two columns, option and group, or a Newick file. It"
    " takes the place of the choice above.",
    "ties": "What a tie counts.",
    "unranked": "Of rankings: what the options are that somebody did not rank.",
    "symmetrize": "The similarity of a to b beside that of b to a.",
    "sampler": "How the posterior is sampled.",
    "kind": "Which estimate stands in the tables.",
    "linear": "Their levels are numbers, each step worth the same; other attributes have a coefficient for each level.",
    "levels": "The levels of an attribute from worst to best, one attribute a line: size=small,medium,large",
    "bins": "An attribute of many numbers in so many bins, or cut at numbers, one attribute a line: price=4",
    "monotone": "Whether people, all else being equal, want more of an attribute.",
    "coding": "What a value of the outcome means, one a line: VALUE=first, VALUE=second or VALUE=tie.",
    "none": "Its label among the alternatives; or the column that holds 1 in its rows; or COLUMN=VALUE.",
    "tempering": "Replicas at several temperatures, so that chains change between families of features.",
    "weight_prior": "Shape and rate of the Gamma prior of each weight, such as 1,10.",
    "transform": "What the weights weigh.",
    "choose": "By what the number of classes is chosen, if several are given.",
    "market": "A table of products, one a row, whose market shares are predicted; a column scenario makes several"
    " markets.",
    "knots": "Numbers at which the slope of an attribute changes, or how many there are, one attribute a line:"
    " price=2,4",
    "interactions": "Attributes whose effects depend on those of others, one attribute a line: price=brand,zoom",
    "constants": "For alternatives with names or places of their own.",
    "signs": "Attributes of which more is better for everybody, or less is, one a line: price=decreasing",
    "labels": "Two columns: a name in the data and the label that is shown for it",
    "where": "A condition on columns, such as block == 'main' and rt > 0.2; a column may also be in (a, b), is"
    " missing or is not missing.",
    "respondents": "What is known of people, on which mean tastes depend.",
}
_TITLES = {
    "plackett-luce": "Plackett-Luce regression",
    "sparse-logit": "Sparse multinomial logit",
    "latent-class-logit": "Latent-class logit",
}
METHODS = {
    "mcmc": "the whole posterior, by sampling",
    "laplace": "an approximation of the posterior, in seconds",
    "maximum-likelihood": "maximum likelihood",
    "annealed": "annealed chains, which predict best",
    "smc": "sequential Monte Carlo, which also estimates the evidence",
    "gibbs": "the whole posterior, by sampling",
    "polya-gamma": "the whole posterior, by sampling",
    "holmes-held": "the whole posterior, by the sampler of Holmes and Held",
    "map": "the most probable answer alone, without probabilities",
    "variational": "an approximation of the posterior",
    "auto": "the whole posterior, or an approximation where there are many rows",
}
OTHERS = {"covariates": [("order", "which was first, or at home")]}  # what may be chosen beside columns
VALUES = {
    ("aspects", ""): "found in the data; by other methods one of each option's own",
    ("aspects", "ibp"): "found in the data, as many as it takes",
    ("aspects", "unique"): "one of each option's own and no other (Bradley-Terry-Luce)",
    ("features", "ibp"): "found in the data, as many as it takes",
    ("sampler", "paper"): "the published one, for comparison only",
    ("prior", "laplace"): "all coefficients are shrunk alike (Laplace)",
    ("prior", "horseshoe"): "most are near zero, a few as large as the data say (horseshoe)",
    ("symmetrize", "mean"): "take their mean",
    ("ties", "davidson"): "a third outcome, whose odds are learned",
    ("ties", "half"): "half a choice of either option",
    ("ties", "drop"): "left out",
    ("choose", "bic"): "BIC, a penalty for each coefficient",
    ("choose", "held-out"): "how well people are predicted whom the fit has not seen",
    ("unranked", "absent"): "were not offered",
    ("unranked", "worse"): "were offered, and are worse than the others",
    ("tempering", "auto"): "where they are needed",
    ("transform", "exponential"): "exponentials of each covariate",
    ("transform", "exponential-pairs"): "exponentials of each covariate and of sums of two",
    ("transform", "none"): "covariates of 0 or more as they are",
}


class AppWords(OptionWords):
    """How messages spell arguments for whoever sees fields with labels.

    Examples
    --------
    >>> from thali.errors import ArgumentError, Setting
    >>> from thali.model.options import DRAWS
    >>> ArgumentError("Set ", Setting("draws", 2000), ".").render(AppWords([DRAWS]))
    'Set “Draws of each chain” = 2000.'

    Attributes
    ----------
    named : list of str
        The arguments that were spelled so far, whose fields the page shows beside the message.
    """

    def __init__(self, options: Iterable[Option]) -> None:
        super().__init__(options)
        self.named: list[str] = []

    def argument(self, name: str) -> str:
        """The label of the field."""
        self._speak_of(name)
        return f"“{label(name)}”"

    def setting(self, name: str, value: object) -> str:
        """The label, and what to choose or to write."""
        return f"{self.argument(name)} = {self.value(name, value)}"

    def value(self, name: str, value: Any) -> str:
        """What the field shows for the value."""
        self._speak_of(name)
        if isinstance(value, bool):
            return "yes" if value else "no"
        if name == "method" and value in METHODS:
            return f"“{METHODS[value]}”"
        if isinstance(value, str) and (name, value) in VALUES:
            return f"“{VALUES[name, value]}”"
        return "its default" if value is None else super().value(name, value)

    def _speak_of(self, name: str) -> None:
        """From now on the argument is named."""
        if name and name not in self.named:
            self.named.append(name)

    def model(self, name: str) -> str:
        """The title of the model."""
        return next((title(spec) for spec in SPECS if spec.cls.endswith(f":{name}")), name)


def words_of(options: Iterable[Option]) -> Words:
    """The words of a page with these options."""
    return AppWords(options)


def said_and_named(error: ThaliError, words: Words) -> tuple[str, list[str]]:
    """What is wrong in words of the page, and the arguments that it speaks of, where the sentence belongs.

    Examples
    --------
    >>> from thali.errors import Argument, ArgumentError
    >>> said_and_named(ArgumentError(Argument("draws"), " must be a whole number; got 'x'."), words_of([]))
    ("“Draws of each chain” must be a whole number; got 'x'.", ['draws'])
    """
    own = words if isinstance(words, AppWords) else AppWords([])
    own.named.clear()  # of messages before
    return error.render(own), list(own.named)


def label(name: str) -> str:
    """What the field of an argument is called."""
    return _LABELS.get(name) or name.replace("_", " ").capitalize()


def title(spec: ModelSpec) -> str:
    """What a model is called."""
    return _TITLES.get(spec.name) or spec.name.replace("-", " ").capitalize()


def in_words(text: str, options: Iterable[Option]) -> str:
    """Help that was written for the command line, with labels in place of options.

    Examples
    --------
    >>> from thali.model.options import CHOSEN
    >>> in_words("The column of the loser, beside --chosen.", [CHOSEN])
    'The column of the loser, beside “What was chosen”.'
    """
    names = {option.word: option.name for option in options}

    def spelled(found: re.Match[str]) -> str:
        no, word = found.groups()
        return f"{'without ' if no else ''}“{label(names.get(word, word.replace('-', '_')))}”"

    return re.sub(r"--(no-)?([a-z]+(?:-[a-z]+)*)", spelled, text)


def value_label(option: Option, word: str) -> str:
    """What a choice among the words of an option is called."""
    return VALUES.get((option.name, word), word.replace("-", " "))
