"""Reports of fitted product classes: class table, effects, predictions, markets."""
