"""Skeleton of a kind of data: ratings of objects on a scale, from the table to the report.

`data.py` is the type, `shape.py` how a table holds such data, `left_out.py` what can be left out
and how its prediction is scored, `spec.py` the `DataSpec` that names them; `model.py` is a model of
such data with its `ModelSpec`. Copy `data.py` to `src/thali/_data/NAME/`, `shape.py` to
`src/thali/_reading/layouts/NAME.py`, `left_out.py` to `src/thali/_comparison/`, `model.py` to
`src/thali/WING/NAME/`, and name the two specs in `SPECS` of `src/thali/_data/kinds.py` and in
`MODELS` of `src/thali/_lazy_imports.py`. Nothing else in the library has to know of them.
"""
