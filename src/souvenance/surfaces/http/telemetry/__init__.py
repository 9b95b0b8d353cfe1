"""What can be seen of a server from outside: request ids, logs, metrics, traces, and how it is."""
