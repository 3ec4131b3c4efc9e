"""Imported last by the process that the warm ones are forked from: what it holds by then is there to stay.

Looking through all that for garbage would copy it, page by page, into each of them.
"""

import gc

gc.collect()
gc.freeze()
