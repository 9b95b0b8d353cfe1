"""The reasoner with a language model behind it: any endpoint that speaks OpenAI's chat completions."""
