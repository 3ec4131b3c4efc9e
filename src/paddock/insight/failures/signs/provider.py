"""How the providers of models, and other services with a quota, say that they will not answer now."""

from paddock.insight.failures.phrases import Sign, listed
from paddock.insight.failures.vocabulary import FailureCause

MIRRORS = frozenset(
    listed(
        """
        alpine; anaconda; apk; apt; archive; artifactory; bintray; brew; cargo; centos; codeload; composer;
        conda; crates; curl; deb; debian; dnf; docker; dockerhub; download; fedora; gem; ghcr; github;
        githubusercontent; gitlab; golang; goproxy; gradle; homebrew; hugging; huggingface; index; maven;
        mirror; mirrors; nexus; npm; npmjs; nuget; packages; packagist; pip; pnpm; pypi; pythonhosted; quay;
        registry; repo; repository; rpm; rubygems; security; simple; tarball; ubuntu; wget; yarn; yum
        """
    )
)
"""Where software comes from: a server of these that fails is not the provider of a model."""

SIGNS = (
    Sign(
        "too-many-requests",
        FailureCause.RATE_LIMIT,
        3,
        "too many requests (429)",
        listed(
            """
            too many requests; toomanyrequests; toomanyrequestsexception; statuscode 429; status 429; http 429;
            https 429; http 1 1 429; http 2 429; error 429; err 429; code 429; apierror 429; got 429; returned 429;
            received 429; responded 429; response 429; 429 error; 429 response; 429 rate; 429 client error; 429 type
            error; rejected 429; e429; apistatuserror 429; clienterror 429; httperror 429; exception 429; 429
            resource
            """
        ),
        unless=listed("at capacity; serviceunavailable; service unavailable; currently overloaded; http 529"),
    ),
    Sign(
        "rate-limit",
        FailureCause.RATE_LIMIT,
        3,
        "rate limit",
        listed(
            """
            rate limit error; ratelimiterror; ratelimitexceeded; ratelimitexception; ratelimited; rate limit
            exceeded; rate limits exceeded; rate limit reached; rate limit hit; rate limit was exceeded; rate
            limit has been; exceeded…rate limit; exceeds…rate limit; exceed…rate limit; exceeding…rate limit;
            hit…rate limit; reached…rate limit; over…rate limit; due to rate limit; due to rate limiting;
            because of rate limit; error…rate limit; rate limited; secondary rate limit; retry limit…rate limit;
            rate limit…retry; rate limit…try again; rate limit…waiting; rate limit…retries; abuse detection
            mechanism
            """
        ),
        unless=listed("rate limiting configured; rate limiting is configured; implement rate; add rate"),
    ),
    Sign(
        "throttled",
        FailureCause.RATE_LIMIT,
        3,
        "throttled",
        listed(
            """
            throttlingexception; throttlederror; throttlingerror; requestthrottled; provisionedthroughputexceeded;
            requests are being throttled; has been throttled; was throttled; throttling error; throttling exception;
            please slow down; reduce your request rate; request rate…too large; too many concurrent requests;
            concurrent request limit; requests per minute…limit; limit…requests per min; limit…tokens per min;
            tokens per minute…limit; tokens per min…limit; exceeded token rate limit; exceeded call rate limit; too
            many tokens please wait; rate of requests; requests too quickly; sending requests too; capacity exceeded
            for your; service tier capacity exceeded; concurrent…exceeded; max concurrent; input token limit;
            throttle…exceeded; serverisbusy…retry; model…rate limited; upstream rate limit; temporarily rate
            limited; rate increased too quickly
            """
        ),
        unless=listed("cpu throttled; thermal"),
    ),
    Sign(
        "quota",
        FailureCause.RATE_LIMIT,
        3,
        "quota used up",
        listed(
            """
            resource exhausted; resourceexhausted; resource has been exhausted…quota; quota exceeded; quotaexceeded;
            exceeded…quota; quota…exhausted; quota…used up; quota…reached; quota will reset; quota resets; exhausted
            your capacity; out of quota; insufficient quota; usage limit; usage limits; hour limit reached; weekly
            limit; daily limit; monthly limit; session limit reached; hit your limit; limit reached…resets; limit
            will reset; reached…your…limit; out of extra usage; credit balance is too low; credit balance too low;
            insufficient credits; insufficient balance; not enough credits; out of credits; billing hard limit;
            spending limit; spend limit; payment required; more credits; can only afford; purchase credits; add
            credits; plan and billing; exhausted your daily quota; exhausted your…quota; daily quota; quota
            limitations; quota…per day; monthly quota; plan s limit; free tier…limit; free models per day; upgrade
            your plan; hard limit reached; hit your usage limit; current quota; exceeded your current quota;
            billing…quota; out of tokens; credits exhausted; credits…remaining 0; no credits; balance…too low; hit
            your session limit; hit your weekly limit; hit your…limit; session limit…resets; weekly limit…resets;
            limit…resets at
            """
        ),
        unless=listed("disk quota; storage quota; larger than max; message size; memory; device"),
    ),
    Sign(
        "retries-exhausted",
        FailureCause.RATE_LIMIT,
        2,
        "retries used up",
        listed(
            """
            retries exhausted; retriesexhausted; exceeded retry limit; retry limit exceeded; too many retries
            """
        ),
        unless=listed("connection; resolve; dns; ssl; refused; network; url"),
    ),
    Sign(
        "backing-off",
        FailureCause.RATE_LIMIT,
        1,
        "backing off",
        listed(
            """
            backing off; backoff…seconds; retry after; retry in…seconds; will retry in; quota…retry
            """
        ),
        unless=listed("no module; import; connection; resolve; dns; refused; unreachable"),
    ),
    Sign(
        "overloaded",
        FailureCause.OVERLOAD,
        3,
        "provider overloaded",
        listed(
            """
            overloadederror; overloaded; overloading; error 529; status 529; http 529; code 529; 529 type error; got
            529; 529 site; at capacity; over capacity; capacity constraints; insufficient capacity; no capacity;
            experiencing high demand; due to high demand; experiencing high traffic; experiencing heavy load; under
            heavy load; under high load; model…temporarily unavailable; model…currently unavailable; model is
            loading; engine…overload; server is busy; servers are busy; server busy; system is busy; try
            again…server load; modelnotreadyexception; no healthy upstream; no available…upstream; no deployments
            available; model is busy; model busy; is too busy; currently overloaded; model…overloaded; try a
            different model; temporarily overloaded; temporarily at capacity; no capacity available; out of
            capacity; capacity…exceeded…model; model not ready; too many connections please wait; bedrock is unable to
            process; statuscode 503…model; apicallerror…503
            """
        ),
        unless=listed("operator overloaded; overloaded function; overloaded method; method overloaded"),
    ),
    Sign(
        "provider-5xx",
        FailureCause.OVERLOAD,
        2,
        "the provider's server fails (5xx)",
        listed(
            """
            internalservererror; internal error encountered; server error; servererror; error code 500; error code
            502; error code 503; error code 504; error code 520; error code 522; error code 524; error 500; error
            502; error 503; error 504; error 520; error 522; error 524; status code 500; status code 502; status
            code 503; status code 504; status code 520; status code 522; status code 524; status 500; status 502;
            status 503; status 504; http 500; http 502; http 503; http 504; 500 internal; 503 service; 504 gateway;
            524 a timeout; bad gateway; badgateway; gateway timeout; gateway time out; gatewaytimeout; service
            unavailable; serviceunavailable; serviceunavailableerror; serviceunavailableexception; service is
            currently unavailable; service temporarily unavailable; service is unavailable; upstream connect error;
            upstream request timeout; upstream prematurely closed; server had an error; server is temporarily
            unable; unexpected error on the server; deadline exceeded…model; deadlineexceeded…504; internal server
            error…model; api error 500; api error 502; api error 503; api error 504; apierror…internal; internal
            error…try again; 502 bad; web server is down; provider returned error; the model produced…server;
            unexpected server error
            """
        ),
        unless=listed(
            "localhost; 127 0 0 1; 0 0 0 0; test; assert; pytest; apt get; service unavailable ip; bad gateway ip"
        ),
    ),
    Sign(
        "provider-silent",
        FailureCause.OVERLOAD,
        2,
        "no answer from the provider",
        listed(
            """
            no response from model; no response from the model; no response from llm; model did not respond; timed
            out waiting for the model; timed out waiting for model; llm request timed out; llm call timed out;
            completion timed out; apitimeouterror; api timeout error; litellm timeout; time to first token; stream
            idle timeout; stream disconnected before completion; stream closed before; empty response from provider;
            no tokens received; no chunk received; stream…stalled; response stream…ended; waiting for response from
            the api; request to…model…timed out; api request timed out; timed out waiting for response; the model
            timed out; inference timed out; generation timed out
            """
        ),
        unless=listed("error sending request; dns; connection refused; connection reset; connect error"),
    ),
)
