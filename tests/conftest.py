"""Every process a test starts inherits which signals are ignored; under `nohup` SIGHUP is, and some tests send it."""

import signal

signal.signal(signal.SIGHUP, signal.SIG_DFL)
