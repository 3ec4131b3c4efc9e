"""What insight says of real runs, against the targets: `python -m bench insight`."""
