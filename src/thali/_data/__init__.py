"""Data classes (comparisons, choices, experiments, similarities, triplets) and their readers."""
