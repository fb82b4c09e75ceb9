"""The search of trees: draws on some trees give the evidence of others, and the best of three objects is found."""

import math
import warnings
from itertools import combinations

import numpy as np
import pytest
from additive_quadrature import total_weight
from scipy.stats import norm

import thali as th
from thali.aspects.populations.tree_draws import TreeDraws
from thali.aspects.priors.phylogenetic import PhylogeneticBuffet
from thali.comparison import tree_search
from thali.comparison import tree_search as tree_search_run
from thali.errors import ArgumentError, DataError, InterruptedWarning, ThaliWarning
from thali.inference.mbar import combined, combined_densities
from thali.posterior.evidence import standard_error_of

E, A = th.EliminationByAspects, th.AdditiveClustering
FEW = 4.5  # standard errors
SIGMA, ALPHA, SHAPE, RATE = 0.1, 4.0, 1, 4
PAIRS = list(combinations(range(3), 2))
MANY = th.Similarities(np.add.outer(np.arange(8.0), np.arange(8.0)) / 10.0)
LIKE = [0.75, 0.1, 0.15]  # of objects a and b, a and c, b and c


class Silent:
    def note(self, text):
        pass

    def update(self, done):
        pass


def three_objects():
    matrix = np.zeros((3, 3))
    matrix[np.triu_indices(3, 1)] = LIKE
    return th.Similarities(matrix + matrix.T, labels=list("abc"))


def three_options():
    return th.PairedComparisons([[0, 6, 2], [1, 0, 3], [4, 1, 0]], labels=list("abc"))


def pair_tree(near, far, depth):
    """A tree of three in which two part at this depth."""
    return th.Tree.from_newick(f"(({near[0]}:{1 - depth},{near[1]}:{1 - depth}):{depth},{far}:1);").for_labels("abc")


def exact(tree):
    """The log evidence of a tree for the three objects, by quadrature (no constant, alpha fixed)."""
    rates = np.exp(PhylogeneticBuffet(tree).log_rates(np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]], bool)))
    full, mass, _ = total_weight(ALPHA * rates[3], SHAPE, RATE)
    whole = mass.copy()
    for rate, s in zip(rates[:3], LIKE, strict=True):
        w, own, _ = total_weight(ALPHA * rate, SHAPE, RATE)
        whole *= norm.pdf(s, full[:, None] + w, SIGMA) @ own
    return math.log(whole.sum())


def model_of_objects():
    return A(sigma=SIGMA, alpha=ALPHA, weight_prior=(SHAPE, RATE), constant=False, tempering=False)


def drawn(model, data, trees, draws=200, chains=12):
    found = TreeDraws(model._parts(data), data, draws, 50, chains, 5)
    for number, tree in enumerate(trees):
        found.add(tree, number, 1, Silent())
    return found


def hold_against(found, values):
    """The differences of log evidence lie within their errors, which are small."""
    apart = found.found.log_z - found.found.log_z[0]
    for k in range(1, len(values)):
        error, _ = standard_error_of(found.found.influence[..., k] - found.found.influence[..., 0])
        assert error < 0.05
        assert abs(apart[k] - (values[k] - values[0])) < FEW * error


TREES = [th.Tree.star("abc"), pair_tree("ab", "c", 0.5), pair_tree("ab", "c", 0.9), pair_tree("bc", "a", 0.7)]


def test_differences_of_evidence_are_exact_for_three_objects():
    """Columns of a single object do not count there, and those of all three do."""
    found = drawn(model_of_objects(), three_objects(), TREES, draws=600)
    hold_against(found, [exact(tree) for tree in TREES])
    others = [pair_tree("ab", "c", 0.7), pair_tree("ac", "b", 0.6)]
    value, error = found.estimates(others)
    wanted = np.array([exact(tree) for tree in others]) - exact(TREES[0])
    assert (np.abs(value - found.found.log_z[0] - wanted) < FEW * np.hypot(error, 0.02)).all()


def test_differences_of_evidence_are_exact_for_three_options():
    """Columns of a single option count there, and those of all do not; see `test_log_evidence` for the values."""
    tree = th.Tree.from_newick("((a:.3,b:.3):.7,c:1);")
    found = drawn(E(alpha=2.0), three_options(), [th.Tree.star("abc"), tree])
    hold_against(found, [-12.877595, -12.654423])


def test_a_star_beside_itself_has_the_same_evidence():
    found = drawn(E(), three_options(), [th.Tree.star("abc")] * 2, draws=20, chains=4)
    np.testing.assert_allclose(found.found.log_z, 0.0, atol=1e-9)


def test_densities_are_combined_as_powers_are():
    rng = np.random.default_rng(1)
    beta, energies = np.array([1.0, 0.4, 0.0]), rng.normal(size=(3, 20, 3))
    one, other = combined(beta, energies, 5), combined_densities(energies[..., None] * beta, 5)
    np.testing.assert_allclose(other.log_z, one.log_z, atol=1e-10)
    np.testing.assert_allclose(other.influence, one.influence, atol=1e-10)


@pytest.fixture(scope="module", autouse=True)
def short_evidence():
    """The evidence of the best tree takes most of the time, and has tests of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_search, "USUAL", {"draws": 100, "tune": 50, "chains": 12, "thin": 2})
        yield


def searched(**run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        usual = {"draws": 60, "tune": 30, "random_seed": 3, "cores": 1, "progressbar": False}
        return th.Tree.search(three_objects(), model=model_of_objects(), **usual | run)


def fitted(model, **run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        return model.fit(three_options(), thin=2, random_seed=1, cores=1, progressbar=False, **run)


@pytest.fixture(scope="module")
def found():
    return searched(start=pair_tree("bc", "a", 0.3))


def test_the_best_tree_of_three_objects_is_found(found):
    """The best of all shapes with all lengths, by quadrature."""
    grid = np.linspace(0.05, 0.98, 12)
    best = max(exact(pair_tree(*shape, depth)) for shape in (("ab", "c"), ("ac", "b"), ("bc", "a")) for depth in grid)
    best = max(best, exact(th.Tree.star("abc")))
    assert list(found.tree.clades()) == [frozenset("ab")]
    assert found.ended and found.usable
    assert exact(found.tree) > best - 2.0 * tree_search_run.GAIN
    low, high = found.log_evidence.interval(1.0 - 1e-5)
    assert low < exact(found.tree) < high


def test_the_table_of_a_search(found):
    table = found.table
    assert table.index[0] == found.trees.index(found.tree)
    assert table["probability"].sum() == pytest.approx(1.0)
    assert (table["log_evidence"].diff().dropna() <= 0.0).all()
    for number, row in table.iterrows():
        apart = exact(found.tree) - exact(found.trees[number])
        assert abs(row["log_bayes_factor"] - apart) <= FEW * max(row["log_bayes_factor_se"], 1e-9)
        assert abs(row["log_evidence"] - exact(found.trees[number])) < FEW * row["standard_error"]
    assert found.clades["probability"].max() <= 1.0 + 1e-12
    assert "the search has ended" in str(found)
    assert found.looked_at > len(found.trees)


def test_an_interrupted_search_loses_nothing(found, monkeypatch):
    """It goes on to the end of an unbroken one."""
    add, added = TreeDraws.add, []

    def until_the_third(self, tree, *others):
        added.append(tree)
        if len(added) == 3:
            raise KeyboardInterrupt
        return add(self, tree, *others)

    monkeypatch.setattr(TreeDraws, "add", until_the_third)
    with pytest.warns(InterruptedWarning, match="stopped early; 2 trees were kept, and continue_search"):
        begun = th.Tree.search(
            three_objects(),
            start=pair_tree("bc", "a", 0.3),
            model=model_of_objects(),
            draws=60,
            tune=30,
            random_seed=3,
            cores=1,
            progressbar=False,
        )
    assert begun.log_evidence is None and begun.table["log_evidence"].isna().all()
    assert begun.table["probability"].notna().all()
    on = begun.continue_search(30)
    assert on.table.equals(found.table) and on.tree == found.tree
    assert len(begun.trees) == 2  # it is left as it was


@pytest.mark.parametrize(
    ("arguments", "kind", "sentence"),
    [
        ({"start": "((a,b),c);"}, ArgumentError, "start must be a Tree, or None; got '"),
        ({"start": th.Tree.star("abd")}, DataError, "options without a leaf: 'c'"),
        ({"model": th.PlackettLuceRegression()}, ArgumentError, "model must be a latent-feature model"),
        ({"trees": 0}, ArgumentError, "trees must be a whole number of 1 or more; got 0"),
        ({"draws": 5}, ArgumentError, "draws must be a whole number of 10 or more; got 5"),
        ({"chains": 1}, ArgumentError, "chains must be a whole number of 2 or more; got 1"),
        ({"thin": None}, ArgumentError, "thin must be a whole number of 1 or more; got None"),
        ({"data": {"x": three_options(), "y": three_options()}}, DataError, "data of one group of people"),
        ({"data": th.PairedComparisons([[0, 1], [2, 0]])}, DataError, "three options or more; got 2"),
        ({"data": "celebrities"}, DataError, "str"),
        (
            {"data": MANY, "model": A()},
            ArgumentError,
            "sigma is chosen by cross-validation",
        ),
        ({"data": three_objects(), "model": E()}, DataError, "Similarities"),
    ],
)
def test_what_cannot_be_searched_is_refused(arguments, kind, sentence):
    with pytest.raises(kind) as raised:
        th.Tree.search(**{"data": three_options(), "progressbar": False} | arguments)
    assert sentence in str(raised.value)


def test_a_model_of_other_data_is_refused():
    model = fitted(E("unique"), draws=10, tune=10)
    other = th.PairedComparisons([[0, 6, 2], [1, 0, 3], [4, 9, 0]], labels=list("abc"))
    with pytest.raises(ArgumentError, match="fitted to other data"):
        th.Tree.search(other, model=model)


@pytest.mark.long  # compiles a ladder of its own
def test_the_usual_start_is_the_dendrogram_of_a_fit():
    data = three_options()
    model = fitted(E(), draws=100, tune=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        run = {"trees": 1, "draws": 10, "tune": 10, "random_seed": 1, "cores": 1, "progressbar": False}
        one, two = (th.Tree.search(data, model=model, **run) for _ in range(2))
    nearest = model.option_similarity().where(~np.eye(3, dtype=bool)).stack().idxmax()
    assert list(one.tree.clades()) == [frozenset(nearest)]
    assert one.tree == two.tree and one.table.equals(two.table)
