"""`python -m zerotag` is `zerotag`, where the latter is not on the path."""

from zerotag.cli import main

if __name__ == "__main__":  # worker processes import this module, too
    main()
