"""Measurements: plain modules, run with `python -m bench.NAME`."""
