from .additive import Additive as Additive
from .custom import Custom as Custom
from .elimination import Elimination as Elimination
from .most_similar_pair import MostSimilarPair as MostSimilarPair
from .recursion import elimination_probabilities as elimination_probabilities
