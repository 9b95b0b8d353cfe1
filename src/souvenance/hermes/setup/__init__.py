"""Setting Souvenance up for a Hermes Agent: placing the plugin, the wizard, and the commands of everyday."""
