"""What every test relies on, whoever starts them and however busy the machine is."""

import signal

from hypothesis import HealthCheck, settings

# Every process a test starts inherits which signals are ignored; under `nohup` SIGHUP is, and some tests send it.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# A timing never fails a test. All else is as Hypothesis has it here: in CI, for one, the same examples every time.
settings.register_profile("paddock", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("paddock")
