"""Pictures that only papers draw: a fitted model in, matplotlib axes out."""
