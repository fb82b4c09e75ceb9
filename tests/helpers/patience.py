"""How long tests wait for another process."""

# Seconds. Only what hangs takes longer: on a machine that does other things as well, a start of
# Python alone took 20.
PATIENCE = 1800.0
