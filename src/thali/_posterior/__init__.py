"""Posterior of every fit: DataTree in the ArviZ schema, netCDF file, summary, convergence."""
