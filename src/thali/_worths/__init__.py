"""Worths that judges see more or less sharply, and that change in time: their posterior, and draws of it."""
