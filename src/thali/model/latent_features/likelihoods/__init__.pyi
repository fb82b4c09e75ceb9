from .additive import Additive as Additive
from .custom import Custom as Custom
from .elimination import Elimination as Elimination
from .recursion import elimination_probabilities as elimination_probabilities
