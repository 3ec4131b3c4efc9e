"""Programs that run as the process of a turn and drive a CLI which cannot be driven by its arguments alone."""
