"""Small private parts at one value each."""

import matplotlib

import thali as th
from thali._inference.threads_and_processes import choose_longest_chains

matplotlib.use("Agg")


def test_the_rectangle_of_most_draws():
    assert choose_longest_chains([50, 40, 45, 10]) == ([0, 1, 2], 40)
    assert choose_longest_chains([0, 0]) == ([0, 1], 0)


def test_a_newick_text_is_parsed_and_written():
    tree = th.Tree.from_newick("((a:0.1,'b c':0.1)hot:0.9,d:1);")
    assert tree.labels == ("a", "b c", "d") and "hot" in tree.names
    assert tree.to_newick() == "((a:0.1,'b c':0.1)hot:0.9,d:1.0);"
