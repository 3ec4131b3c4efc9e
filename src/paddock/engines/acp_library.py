"""Whether the Agent Client Protocol can be spoken here: the library comes with an extra that only the bridge needs."""

import importlib.util

INSTALL = "pip install 'paddock[acp]'"


def is_library_here() -> bool:
    return importlib.util.find_spec("acp") is not None
