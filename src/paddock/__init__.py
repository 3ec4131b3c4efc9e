"""Paddock runs a fleet of coding agents on one git repository."""

__version__ = "0.1.0"
