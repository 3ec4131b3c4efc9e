"""How an environment says that it is not set up for the work: by whom, with what, and beside what."""

from paddock.insight.failures.phrases import Sign, listed
from paddock.insight.failures.vocabulary import FailureCause

SIGNS = (
    Sign(
        "not-started",
        FailureCause.UNKNOWN,
        2,
        "the agent was never started",
        listed(
            """
            agent was not started; agent was never started; agent not started; agent never started; agent did not
            start; failed to start agent; failed to start the agent; could not start agent; could not start the
            agent; unable to start the agent; failed to start tmux session; tmux session…did not come up
            """
        ),
    ),
    Sign(
        "credentials",
        FailureCause.DEPENDENCY,
        3,
        "credentials that are missing or not accepted",
        listed(
            """
            invalid api key; invalid x api key; incorrect api key; api key not valid; api key not found; api key not
            set; api key is missing; api key is not set; api key is required; missing api key; no api key; api
            key…must be set; api key…not set; api key expired; expired api key; authentication error;
            authenticationerror; authentication failed; authentication required; authentication failure;
            unauthenticated; not authorized; 401 error; http 401; status code 401; error code 401; error 401; http
            403; status code 403; error code 403; 403 forbidden; bad credentials; invalid credentials; could not
            load credentials; unable to locate credentials; no credentials; credentials…expired; credentials…not
            found; could not read username; could not read password; not logged in; please run login; session has
            expired; session expired; sign in again; please sign in; log in again; not signed in; set an auth
            method; no auth method; no auth credentials; api key…missing or empty; api key…is empty; api key
            environment variable; api key…is required; you don t have access; accessdeniedexception; login required;
            please log in; token…expired; invalid token; expired token; unable to authenticate; failed to
            authenticate; could not authenticate; cannot authenticate; e401; token has been revoked; permission
            denied publickey; host key verification failed; model not found; model…does not exist; you do not have
            access; does not have access to; permissiondeniederror; 401 unauthorized; model…not found error;
            not_found_error…model; invalid authentication; wrong api key; no access token; access token…invalid; no
            api token; permission…denied on resource; billing account…not; caller does not have permission; request
            had invalid authentication; could not find default credentials; default credentials were not found;
            unable to load aws credentials; security token…expired; security token…invalid; expiredtoken;
            signaturedoesnotmatch; invalidclienttokenid; sso token; oauth token…expired; login expired; aadsts;
            unable to connect…unauthorized; x509…not authorized; terraform login; no valid credential;
            organization…disabled; account…suspended; deployment…does not exist; unknown model; model…not supported;
            model…not available; model…decommissioned; keyring; no stored credentials
            """
        ),
        unless=listed("proxy; nginx; localhost"),
    ),
    Sign(
        "not-permitted",
        FailureCause.DEPENDENCY,
        2,
        "what the environment does not permit",
        listed(
            """
            permission denied; permissionerror; eacces; eperm; operation not permitted; is not permitted; no
            permissions to; create new namespace; access denied; access is denied; errno 13; errno 1 operation;
            os error 13; are you root; must be root; must be run as root; requires root; requires superuser;
            cannot be used with root; is not in the sudoers; sudo a password is required; sudo a terminal is
            required; dubious ownership; detected dubious; cannot run as root; refusing to run
            """
        ),
    ),
    Sign(
        "wrong-settings",
        FailureCause.DEPENDENCY,
        2,
        "settings that are missing or wrong",
        listed(
            """
            configuration error; config error; configerror; invalid configuration; invalid config; bad
            configuration; could not find config; config file not found; missing configuration; missing required
            environment variable; missing environment variable; environment variable…not set; environment
            variable…is required; environment variable…must be set; environment variable…missing; environment
            variable…empty; following environment variables; environment variables…not set; environment
            variables…missing; not a git repository; could not load settings; failed to load config; failed to parse
            config; schema validation; unsupported locale; locale error; no such device; cannot open display;
            missing x server; unable to open display; unknown configuration key; failed to parse toml; toml parse
            error; invalid toml; error loading config; error parsing config; createcontainerconfigerror;
            configmap…not found; secret…not found; couldn t find key; not a tty; stdin is not a terminal; the input
            device is not a tty; raw mode is not supported; requires a tty; must be run in a terminal; no provider
            configured; provider not configured; run…configure first; please configure; input required and not
            supplied; unable to resolve action; required input; required variable; no value for required variable
            """
        ),
    ),
    Sign(
        "missing-service",
        FailureCause.DEPENDENCY,
        1,
        "a service beside the run that is not there",
        listed(
            """
            connection refused…localhost; localhost…connection refused; 127 0 0 1…connection refused; connection
            refused…127 0 0 1; econnrefused 127 0 0 1; econnrefused 1; econnrefused localhost; localhost…failed
            to connect; failed to connect…localhost; can t connect to local; could not connect to server; is the
            server running; unix domain socket; dbus; system has not been booted with systemd; failed to connect
            to bus
            """
        ),
    ),
    Sign(
        "missing-file",
        FailureCause.DEPENDENCY,
        1,
        "a file that is missing",
        listed(
            """
            no such file or directory; filenotfounderror; nosuchfileexception; cannot find the path; cannot find
            the file; file not found; os error 2; errno 2
            """
        ),
    ),
    Sign("absent", FailureCause.DEPENDENCY, 1, "something that is not found", listed("not found; does not exist")),
)
