"""People of unknown kinds: their data, the task of one chain, and what its draws say."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

import thali as th
from helpers.all_drawn import all_drawn
from helpers.naive import latent_features as naive
from thali._aspects.populations.latent_classes import (
    ClassGroupChain,
    LatentClassPopulation,
    build_class_task,
)


def answered(rows, labels=None):
    """Comparisons from rows of person, first, second, and which of the two was chosen."""
    frame = pd.DataFrame(rows, columns=["person", "first", "second", "chosen"])
    return th.PairedComparisons.from_trials(
        frame, "first", "second", "chosen", respondent="person", labels=labels
    )


def of_one_pair(*counts):
    """People who compared two options so often: times the first was chosen, and the second."""
    return answered(
        [(f"p{k}", "1", "2", c) for k, (a, b) in enumerate(counts) for c in "1" * a + "2" * b]
    )


def random_answers(people, n, choices, seed):
    """People who answer at random."""
    rng, rows, labels = np.random.default_rng(seed), [], list("abcdefghij"[:n])
    for person in range(people):
        for _ in range(choices):
            pair = rng.choice(labels, 2, replace=False)
            rows.append((f"p{person}", *pair, rng.choice(pair)))
    return answered(rows, labels)


def random_judgements(people, n, choices, seed, tied=False, described=True):
    """People who answer at random, ties perhaps among them, with two covariates of their
    comparisons perhaps."""
    rng, rows, labels = np.random.default_rng(seed), [], list("abcdefghij"[:n])
    for person in range(people):
        for _ in range(choices):
            pair = rng.choice(labels, 2, replace=False)
            chosen = rng.choice([*pair, "tie"]) if tied else rng.choice(pair)
            rows.append(
                (f"p{person}", *pair, chosen, int(rng.integers(-1, 2)), int(rng.integers(2)))
            )
    if tied and not any(row[3] == "tie" for row in rows):
        rows[0] = (*rows[0][:3], "tie", *rows[0][4:])
    frame = pd.DataFrame(rows, columns=["person", "first", "second", "chosen", "longer", "later"])
    more = {"covariates": ["longer", "later"]} if described else {}
    return th.PairedComparisons.from_trials(
        frame, "first", "second", "chosen", respondent="person", labels=labels, **more
    )


random_ties = partial(random_judgements, tied=True, described=False)
random_tied_judgements = partial(random_judgements, tied=True)


def random_choices(people, n, choices, seed):
    """People who choose at random out of random sets of two and more."""
    rng, rows, labels = np.random.default_rng(seed), [], list("abcdefghij"[:n])
    for number in range(people * choices):
        offered = rng.choice(labels, rng.integers(2, n + 1), replace=False)
        chosen = rng.choice(offered)
        rows += [(f"p{number % people}", number, each, int(each == chosen)) for each in offered]
    frame = pd.DataFrame(rows, columns=["person", "task", "item", "chosen"])
    return th.Choices(frame, respondent="person", labels=labels)


class OfSets(th.likelihoods.Elimination):
    """Elimination by aspects that treats choices from pairs as those from sets of two, without
    which people who were offered only pairs would have another form than the others."""

    def convert_data(self, data):
        return data


def likelihood_of(data, lapse=0.01):
    """In the form that kinds of people have."""
    kind = OfSets if isinstance(data, th.Choices) else th.likelihoods.Elimination
    return kind(lapse, ties=data.n_ties > 0, covariates=data.covariate_names)


def naive_log_likelihood(data, features, weights, unique, lapse=0.01, tie=None, beta=()):
    """Of the answers of one person, slow and obvious."""
    return naive.log_likelihood(data, features, weights, unique, lapse, tie, beta=beta)


def as_choices(data):
    """Comparisons as choices from sets of two."""
    return th.Choices.from_comparisons(data)


class Asked:
    """The questions that everybody answers again, with a row of `People` for each possible
    answer."""

    def __init__(self, of_task, data):
        if hasattr(data, "wins"):
            known = data.cells.answers
            people, asked, times = (
                known.respondent,
                known.pair,
                known.wins + known.losses + known.tied,
            )
            question_of = np.arange(of_task.people.place.size) // 3  # one, the other or a tie
        else:
            people, asked, times = data.respondent, data.set_of[data.choice], data.times
            question_of = data.set_of
        self.asked, row = np.unique(np.column_stack([people, asked]), axis=0, return_inverse=True)
        self.times = np.bincount(row.ravel(), times).astype(int)
        self.answers = [np.flatnonzero(question_of == question) for _, question in self.asked]
        self.people = of_task.people
        of_person = np.repeat(self.asked[:, 0], [len(each) for each in self.answers])
        self.start = np.searchsorted(of_person, np.arange(len(data.respondents) + 1)).astype(
            np.int64
        )
        self.answer = np.concatenate(self.answers).astype(np.int64)
        self.data = data

    def members(self, question):
        """The options of a question."""
        if hasattr(self.data, "wins"):
            cells = self.data.cells
            return [int(cells.first[question]), int(cells.second[question])]
        return self.data.members[self.data.start[question] : self.data.start[question + 1]].tolist()

    def drawn(self, rng, probabilities):
        """`People` with new answers; `probabilities`: of the answers to a question about these
        members for a person."""
        times = [
            rng.multinomial(n, probabilities(person, question, self.members(question)))
            for (person, question), n in zip(self.asked, self.times, strict=True)
        ]
        times = np.concatenate(times).astype(float)
        for array in (self.start, self.answer, times):
            array.flags.writeable = False  # as those of data, so that no kernel is compiled twice
        return self.people._replace(start=self.start, answer=self.answer, times=times)


def task(
    data,
    kinds=2,
    likelihood=None,
    prior=None,
    alpha=None,
    weights="free",
    draws=1,
    tune=0,
    thin=5,
    tempering=False,
    weight_prior=(1.0, 1.0),
):
    """What the chains run."""
    parts = {
        "prior": prior or th.priors.IndianBuffet(),
        "likelihood": likelihood or th.likelihoods.Elimination(0.01),
        "weight_prior": weight_prior,
        "alpha": alpha,
        "tempering": tempering,
    }
    return build_class_task(
        data, th.people.LatentClasses(kinds, weights), draws, tune, thin, **parts
    )


def with_classes_in_order(tree):
    """A posterior with latent classes, completed as a fit completes its own."""
    return LatentClassPopulation(th.people.LatentClasses(2)).complete_tree(tree)


def with_kappa(of_task, kappa):
    """The same where kappa is not learned."""
    return replace(of_task, model=of_task.model._replace(kappa=float(kappa)))


def drawn(of_task, random_seed=1):
    """The draws of one chain."""
    chain = ClassGroupChain(of_task, np.random.default_rng(random_seed))
    chain.run_until(chain.total)
    return chain.draws


def kinds_in(model, *names):
    """Of each draw who is of which kind, the share of each, owners, weights by kind, and what has
    these names."""
    posterior = all_drawn(model.posterior_)
    number = int(model.posterior_["constant_data"].dataset["kinds"])

    def flat(name):
        shape = posterior[name].shape
        return posterior[name].values.reshape(shape[0] * shape[1], *shape[2:])

    for of, owners, weights, *own in zip(
        *map(flat, ("kind", "features", "kind_weights", *names)), strict=True
    ):
        sizes = np.bincount(of, minlength=number) + 1.0
        yield of, sizes / sizes.sum(), owners.T.astype(bool), weights, *own


def of_new_person(model, labels, lapse=0.01):
    """The probability of each member of a set for a new person, slow and obvious."""
    known = [str(label) for label in model.posterior_["posterior"].dataset["option"].values]
    members = [known.index(label) for label in labels]
    found = [
        sum(
            share[g] * np.array(naive.set_probabilities(members, owners, w[g], s[g], lapse))
            for g in range(len(share))
        )
        for _, share, owners, w, s in kinds_in(model, "kind_unique_weights")
    ]
    return np.mean(found, axis=0)


def shares_of_new(model):
    """The probability that a new person is of each class (draws, classes): of its people in a draw,
    and one more."""
    posterior = all_drawn(model.posterior_)
    number, people = posterior.sizes["kind_number"], posterior.sizes["respondent"]
    of = posterior["kind"].values.reshape(-1, people)
    sizes = np.stack([(of == g).sum(axis=1) for g in range(number)], axis=1)
    p = posterior["kind_choice_probability"].values.reshape(len(of), number, -1)
    of_class = [
        model.respondents.of_class(k + 1).posterior_["posterior"]["choice_probability"].values
        for k in range(number)
    ]
    order = [
        np.abs(p - each.reshape(len(of), 1, -1)).sum(axis=2).argmin(axis=1) for each in of_class
    ]
    return (np.take_along_axis(sizes, np.stack(order, axis=1), axis=1) + 1.0) / (people + number)
