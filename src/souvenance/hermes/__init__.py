"""The memory provider of a Hermes Agent: who speaks, in which session, what is recalled and what is kept."""
