from .additive import Additive as Additive
from .custom import Custom as Custom
from .elimination import Elimination as Elimination
from .most_similar_pair import MostSimilarPair as MostSimilarPair
from .parameters import Gamma as Gamma
from .parameters import Normal as Normal
from .recursion import elimination_probabilities as elimination_probabilities
