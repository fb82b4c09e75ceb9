"""Of which people data are: one group, several, or kinds that nobody knows."""
