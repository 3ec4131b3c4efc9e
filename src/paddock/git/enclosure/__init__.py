"""A place of its own for everybody who is not trusted with the user's repository."""
