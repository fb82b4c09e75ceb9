"""The kinds of data that models are fitted to, by the names that users read."""

PAIRS = "paired comparisons"
CHOICES = "choices out of sets"
BEST_WORST = "best-worst choices"  # which are kept as choices out of sets, and of which posteriors have answers apart
SIMILARITIES = "similarities"
TRIPLETS = "triplets"
CLASSES = "covariates and classes"
EXPERIMENTS = "choice experiments"
OWN = "your own data"  # of a likelihood of the user

# of several groups of people
PAIR_GROUPS = "paired comparisons by group"
CHOICE_GROUPS = "choices out of sets by group"
SIMILARITY_GROUPS = "similarities by group"
GROUPED = {PAIRS: PAIR_GROUPS, CHOICES: CHOICE_GROUPS, SIMILARITIES: SIMILARITY_GROUPS}
OF_GROUPS = {grouped: kind for kind, grouped in GROUPED.items()}

# of people whose kinds are not known
PAIR_KINDS = "paired comparisons of kinds of people"
