"""`python -m thali` is the command `thali`."""

from thali._surfaces.cli import main

if __name__ == "__main__":
    main()
