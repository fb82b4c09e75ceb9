"""Non-negative dimensions of objects, from similarities or odd-one-out triplets."""
