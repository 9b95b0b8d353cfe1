"""Where objects are kept: a folder, or a bucket of S3."""
