"""Trees over options: which of them are related, and how closely."""
