"""`python -m papers`."""

from .command import main

main()
