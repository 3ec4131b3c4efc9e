"""What escapes to main with no reviewer, one and several of known hit rates, and what reviews cost."""
