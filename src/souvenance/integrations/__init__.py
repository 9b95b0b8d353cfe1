"""The memory of agent frameworks. Each module here is for one of them, and alone imports it."""
