"""The MCP door: memory as tools, resources and prompts that a model's host can use."""
