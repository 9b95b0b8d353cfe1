"""`python -m mnemon` is `mnemon`."""

from mnemon.commands import main

main()
