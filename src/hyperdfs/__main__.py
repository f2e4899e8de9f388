"""``python -m hyperdfs`` is the command line."""

import sys

from hyperdfs.cli.app import main

sys.exit(main())
