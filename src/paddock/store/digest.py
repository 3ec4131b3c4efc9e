"""BLAKE2b without OpenSSL, which hashlib loads and which every command would wait milliseconds for."""

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b"]
