"""The merge queue against the policies others use, in a seeded simulation."""
