"""What every test relies on, whoever starts them and however busy the machine is."""

import signal

from hypothesis import HealthCheck, settings

# Every process a test starts inherits which signals are ignored, and some tests send these: under `nohup` SIGHUP is
# ignored, in the background of a script SIGINT and SIGQUIT.
for signum, default in (
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
):
    if signal.getsignal(signum) is signal.SIG_IGN:
        signal.signal(signum, default)

# A timing never fails a test. All else is as Hypothesis has it here: in CI, for one, the same examples every time.
settings.register_profile("paddock", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("paddock")
