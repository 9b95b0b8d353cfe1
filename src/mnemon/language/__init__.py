"""What knows words of human languages."""
