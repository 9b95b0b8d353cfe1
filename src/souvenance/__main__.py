"""`python -m souvenance` is `souvenance`."""

from souvenance.commands import main

main()
