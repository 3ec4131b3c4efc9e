"""How a network says that it does not reach somebody, or not in a way that can be trusted."""

from paddock.insight.failures.phrases import Sign, listed
from paddock.insight.failures.signs.provider import MIRRORS
from paddock.insight.failures.vocabulary import FailureCause

_INSIDE = (
    "localhost",
    "127 0 0 1",
    "0 0 0 0",
    "host 1 port",
    "1 5432",
    "unix domain socket",
)

SIGNS = (
    Sign(
        "dns",
        FailureCause.NETWORK,
        3,
        "a name that is not resolved (DNS)",
        listed(
            """
            temporary failure resolving; name or service not known; nodename nor servname; no address associated
            with hostname; no such host; enotfound; eai again; eai noname; eai fail; getaddrinfo; name
            resolution; nameresolutionerror; gaierror; unknownhostexception; unknown host; server misbehaving;
            dns lookup; dns error; dns failure; dns resolution; dns timeout; dns server; nxdomain; servfail;
            failed to lookup address; failed to look up; lookup…i o timeout; lookup…on…53; dial tcp lookup;
            could not resolve host; couldn t resolve host; cannot resolve host; can t resolve host; could not
            resolve proxy; could not resolve address; could not resolve hostname; could not translate host name;
            unable to resolve host address; unable to resolve address; unable to look up; host not found;
            hostname could not be; err name not resolved
            """
        ),
        unless=listed("sudo unable to resolve host; dependencies; dependency; requirement; requirements"),
    ),
    Sign(
        "dns",
        FailureCause.NETWORK,
        3,
        "a name that is not resolved (DNS)",
        listed(
            """
            could not resolve; failed to resolve; couldn t resolve; unable to resolve; cannot resolve
            """
        ),
        near=frozenset(listed("address; com; dev; domain; host; hostname; http; https; io; net; org")),
        unless=listed(
            """
            sudo unable to resolve host; peer; git ref; reference; dependencies; dependency; requirement;
            requirements; module; import; package; symbol; type
            """
        ),
    ),
    Sign(
        "tls",
        FailureCause.NETWORK,
        3,
        "no trusted connection (TLS)",
        listed(
            """
            tls handshake; ssl handshake; handshake timeout; handshake timed out; handshake failure; handshake
            failed; certificate verify failed; certificateverifyfailed; certificate verification failed; certificate
            validation; certificate is not trusted; certificate has expired; certificate expired; cert has expired;
            certificate signed by unknown authority; certificate is not valid; certificate problem; certificate
            chain; invalid certificate; invalid peer certificate; unknownissuer; local issuer certificate; verify
            the first certificate; unable to verify leaf signature; self signed certificate; self signed cert; depth
            zero self signed; ca certificate; ssl error; sslerror; ssl errno; sslcertverificationerror;
            sslzeroreturnerror; sslv3 alert; tlsv1 alert; ssl routines; ssl connect; ssl protocol error; tls error;
            tls connection was non properly terminated; tls packet; tls alert; gnutls; schannel; pkix path building
            failed; sslhandshakeexception; sun security; server certificate; unable to get local issuer; err cert;
            err ssl; ssl unexpected eof; eof occurred in violation of protocol; certpathvalidatorexception; pkix
            path validation; unable to get issuer cert; unable_to_get_issuer_cert_locally; unable to get issuer
            certificate; x509 certificate; x509…unknown authority; peer certificate cannot be authenticated; server
            certificate verification failed; ssl certificate; ssl certificate problem; unable to find valid
            certification path; certificate not yet valid; tls…internal error; remote error tls; wrong version
            number; no alternative certificate subject name; cert…altname
            """
        ),
        unless=listed("setting up ca certificates; updating certificates; self signed certificate and; generate"),
    ),
    Sign(
        "proxy",
        FailureCause.NETWORK,
        3,
        "a proxy that refuses or fails",
        listed(
            """
            proxyconnect; proxyerror; proxy error; proxy authentication required; http 407; status 407; error 407;
            407 proxy; tunnel connection failed; tunneling socket could not be established; tunnel failed; cannot
            connect to proxy; unable to connect to proxy; failed to connect to proxy; could not connect to proxy;
            from proxy after connect; proxy connect aborted; proxy connection; proxy…refused; proxy…timed out;
            proxy…failed; err proxy; err tunnel; blocked by…proxy; blocked by…firewall; x deny reason; host not
            allowed; not in allowlist; egress…denied; egress…blocked; tunnel through proxy; proxy returns; proxy
            responded; proxy refused; proxy server
            """
        ),
        unless=listed("litellm proxy; proxies; proxy spend; pip install"),
    ),
    Sign(
        "unreachable",
        FailureCause.NETWORK,
        3,
        "no route",
        listed(
            """
            network is unreachable; network unreachable; enetunreach; no route to host; ehostunreach; host is
            unreachable; host unreachable; host is down; enetdown; network is down; errno 101; errno 113; os
            error 101; os error 113; err internet disconnected; err address unreachable; no internet; internet
            connection; network connectivity; check your network; not connected to the internet; you appear to
            be offline
            """
        ),
    ),
    Sign(
        "connection-refused",
        FailureCause.NETWORK,
        2,
        "a connection that is refused",
        listed(
            """
            connection refused; econnrefused; connectionrefusederror; errno 111; errno 61; os error 111; os
            error 61; actively refused
            """
        ),
        unless=_INSIDE,
    ),
    Sign(
        "connection-lost",
        FailureCause.NETWORK,
        2,
        "a connection that is lost",
        listed(
            """
            connection reset; connectionreseterror; econnreset; err connection closed; errno 104; errno 54; os
            error 104; connection aborted; econnaborted; connectionabortederror; remotedisconnected; remote end
            closed connection; remote end hung up; connection was forcibly closed; connection closed by;
            connection closed unexpectedly; connection closed before; connection was closed; connection has been
            closed; connection lost; connection terminated; connection broken; server disconnected;
            serverdisconnectederror; server closed the connection; peer closed connection; socket hang up;
            socket closed; err socket; early eof; invalid index pack output; rpc failed; unexpected disconnect
            while reading; transfer closed with; incomplete read; incompleteread; incomplete chunked read;
            content length mismatch; protocolerror; remoteprotocolerror; http2…stream…not closed cleanly; http 2
            stream; unexpected eof; chunked encoding; ssh exchange identification; kex exchange identification;
            broken pipe; epipe; websocket…closed; connectionclosederror; keepalive ping timeout; no close frame
            received; lost connection to; lost the connection
            """
        ),
        unless=(*_INSIDE, *listed("parsing; syntax; json; docker sock")),
    ),
    Sign(
        "connection-timeout",
        FailureCause.NETWORK,
        2,
        "a server that does not answer in time",
        listed(
            """
            connection timed out; connection timeout; connect timed out; connect timeout; connecttimeout;
            connecttimeouterror; etimedout; esockettimedout; err timed out; errno 110; errno 60; os error 110; read
            timed out; readtimeout; readtimeouterror; sockettimeoutexception; socket timeout; socket timed out; i o
            timeout; network timeout; network request timed out; awaiting headers; request canceled while waiting
            for connection; context deadline exceeded; timeout was reached; operation timed out; operation too slow;
            connection attempt timed out; timeout exceeded while; failed to establish a new connection;
            newconnectionerror; max retries exceeded with url; maxretryerror; deadline exceeded while; request timed
            out…url; timeout awaiting response headers; timeout awaiting response; timed out after…ms connecting;
            connect etimedout; network socket disconnected; dial tcp…timeout; dial tcp…i o timeout; connection
            to…timed out; ssh…timed out; connection timed out while; could not connect to…timed out; operation timed
            out after
            """
        ),
        unless=(*_INSIDE, *listed("acquire; lock; unixhttpconnectionpool; daemon; docker sock")),
    ),
    Sign(
        "cannot-connect",
        FailureCause.NETWORK,
        2,
        "a connection that fails",
        listed(
            """
            failed to connect; could not connect; couldn t connect; cannot connect; can t connect; unable to
            connect; error connecting; connection error; connectionerror; apiconnectionerror; clientconnectorerror;
            connection failed; connection failure; connecterror; error sending request; error trying to connect; tcp
            connect error; fetch failed; failed to fetch http; failed to fetch https; network error; networkerror;
            network failure; network problem; network issue; err network; urlerror; urlopen error; curl 6 could;
            curl 7 failed; curl 7 couldn; curl 18; curl 28; curl 35; curl 52; curl 56; curl 60; curl 92; unable to
            access http; unable to access https; ssh connect to host; could not get…http; could not get https; could
            not head; unable to reach; could not reach; cannot reach; no internet; connection could not be
            established; error connecting to; http request failed; failed to fetch…network; connection attempt
            failed; neither…reachable; cluster unreachable; kubernetes cluster unreachable; unable to connect to the
            server
            """
        ),
        unless=(
            *_INSIDE,
            *listed("docker daemon; docker api; display; x server; docker sock; dbus; session bus; no such file; tmux"),
        ),
    ),
    Sign(
        "download-failed",
        FailureCause.NETWORK,
        2,
        "a download that fails",
        listed(
            """
            hash sum mismatch; unable to fetch some archives; failed to download; failed to fetch; download
            failed; download error; error downloading; could not download; unable to download; cannot download;
            failed to retrieve; spurious network error; failed to clone; clone of…failed; could not fetch url;
            problem confirming the ssl; failed to pull image; error pulling image; failed to resolve source
            metadata; failed to copy…httpreadseeker; failed to do request; failed to authorize…token; offline
            mode; release file…is not valid yet
            """
        ),
        unless=(*_INSIDE, *listed("404; not found; manifest unknown; no match")),
    ),
    Sign(
        "mirror-5xx",
        FailureCause.NETWORK,
        3,
        "a package server that fails (5xx)",
        listed(
            """
            500 internal server error; 503 service; 504 gateway; 500 server error; 502 server error; 503 server
            error; 504 server error; error 500; error 502; error 503; error 504; status 500; status 502; status
            503; status 504; status code 500; status code 502; status code 503; status code 504; returned 500;
            returned 502; returned 503; returned 504; http 500; http 502; http 503; http 504; e500; e502; e503;
            e504; bad gateway; received unexpected http status
            """
        ),
        near=MIRRORS,
        unless=listed("anthropic; openai; model; llm; litellm; claude; gpt; gemini; completion; completions"),
    ),
    Sign(
        "stalled-download",
        FailureCause.NETWORK,
        1,
        "a download that stalls",
        listed(
            """
            ign…http; err…http; waiting for headers
            """
        ),
        unless=listed("get; hit"),
    ),
)
