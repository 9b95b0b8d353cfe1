"""The inspector: pages on which people see what is remembered, correct it and forget it."""
