"""What is known of people, whichever model knows it.

columns.py       their columns: by which they are chosen or weighed, and covariates of a model
individuals.py   what each prefers, with its error
reach.py         the sets of options that reach most of them
segments.py      segments of them by what they prefer
"""
