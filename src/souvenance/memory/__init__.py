"""Memory for Python programs: `souvenance.open`, in a data folder or on a server."""
