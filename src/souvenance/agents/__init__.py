"""A turn of a conversation: whose memory it uses, what memory adds to it, and what is kept of it."""
