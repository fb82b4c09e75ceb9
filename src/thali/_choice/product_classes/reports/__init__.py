"""Reports of a fit of product classes."""
