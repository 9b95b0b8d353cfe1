"""Embedders from a package, a folder or an endpoint. What is heavy is loaded when it is asked."""
