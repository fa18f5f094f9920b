"""`python -m dataaccess` is the command `dataaccess`."""

import sys

from dataaccess.cli import main

if __name__ == "__main__":
    sys.exit(main())
