"""Code shared by all models: base classes, engines, findings, checks, files, registry."""
