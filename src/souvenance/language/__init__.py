"""Language: the code that knows words of a human language."""
