"""The chat door: memory for any client that speaks OpenAI's API."""
