"""Skeleton of a kind of counted data: of every set of options that was shown, a respondent picks
two.

`data.py` is the type: its `questions()` say what was asked, which answers were possible and how
often each was given, and all else follows from them. `model.py` is a model, which has the
probabilities of the answers to a question for each draw, and `spec.py` names both; `shape.py` is
how a table holds such data. Nothing is written here of checks, of tables of predictions, or of what
is left out and scored in a comparison: these are those of all counted data.

Copy `data.py` to `src/thali/_data/NAME/`, `shape.py` to `src/thali/_reading/layouts/NAME.py` and
`model.py` to `src/thali/_aspects/`, name the two specs in `SPECS` of `src/thali/_data/kinds.py` and
in `MODELS` of `src/thali/_lazy_imports.py`, and give the words for a row in `CHECKED` of
`src/thali/_model/predictive_check.py`.
"""
