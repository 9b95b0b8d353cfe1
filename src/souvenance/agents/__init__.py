"""A turn of a conversation: whose it is, what memory gives to it, and what of it is kept."""
