"""`python -m mnemon` is `mnemon`."""

from mnemon.bootstrap import main

main()
