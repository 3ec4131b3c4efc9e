"""Whether a batch of runs behaves differently from the runs before it."""
