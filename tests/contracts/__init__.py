"""Contract suites that every backend, and any outsider's backend, must pass."""
