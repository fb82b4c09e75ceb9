"""Groups of people who judged the same options: features in common, weights by group."""
