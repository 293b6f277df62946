"""`python -m citewell` is `citewell`."""

from citewell.interfaces.cli import main

main()
