"""numpy, loaded for one thread.

Loading it starts a pool of threads for linear algebra, one for each core, which at first do nothing
but wait busily: on two cores that doubles the time of a first recall. What is multiplied here is
small. Where numpy was loaded before, its pool stays as it is.
"""

from __future__ import annotations

import os

_THREADS = "OPENBLAS_NUM_THREADS"

_unset = _THREADS not in os.environ
os.environ.setdefault(_THREADS, "1")
try:
    import numpy as np
    from numpy.typing import NDArray
finally:
    if _unset:
        del os.environ[_THREADS]

__all__ = ["NDArray", "np"]
