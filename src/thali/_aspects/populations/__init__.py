"""Respondents as one group, several groups, individuals or latent classes: tasks and posteriors."""
