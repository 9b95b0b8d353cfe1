"""Signing in to a server: in a browser, or by a code on another device."""
