"""`python -m hansei`."""

from hansei.cli.main import main

if __name__ == "__main__":
    main()
