"""The plugin for Hermes, in a folder of the product's own name: hosts name a provider after its folder."""
