"""`python -m budget_opt` is the command `budget-opt`."""

import sys

from budget_opt.cli import main

if __name__ == "__main__":
    sys.exit(main())
