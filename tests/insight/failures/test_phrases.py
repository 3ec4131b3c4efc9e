"""Lines as tools print them, and the trouble that each is recognised as."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.insight.failures.phrases import THEN, Sign, SignBook, listed, words_in
from paddock.insight.failures.salience import book
from paddock.insight.failures.vocabulary import FailureCause

LINES = r"""
rate-limit|anthropic.RateLimitError: Error code: 429 - {'type': 'error', 'error': {'type': 'rate_limit_error', 'messag
rate-limit|litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached for gpt-4o in organization org
rate-limit|■ You've hit your usage limit. Upgrade to Pro or try again in 3 hours 12 minutes.
rate-limit|Claude AI usage limit reached|1755806400
rate-limit|AgentState.RATE_LIMITED
rate-limit|stream error: exceeded retry limit, last status: 429 Too Many Requests
rate-limit|Error: 429 {"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOU
rate-limit|openai.RateLimitError: You exceeded your current quota, please check your plan and billing details.
rate-limit|botocore.errorfactory.ThrottlingException: Too many tokens, please wait before trying again.
rate-limit|RetryError: tenacity.RetryError[<Future at 0x7f raised RateLimitError>]
rate-limit|Credit balance is too low
overload|API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}
overload|litellm.InternalServerError: AnthropicException - Overloaded. Handle with `litellm.InternalServerError`.
overload|anthropic.InternalServerError: Error code: 500 - {'type': 'error', 'error': {'type': 'api_error', 'message':
overload|google.api_core.exceptions.ServiceUnavailable: 503 The model is overloaded. Please try again later.
overload|openai.APIStatusError: Error code: 503 - upstream connect error or disconnect/reset before headers
rate-limit|You have exhausted your capacity on this model. Your quota will reset after 4h32m.
rate-limit|This request requires more credits, or fewer max_tokens.
overload|ServiceUnavailableException when calling the ConverseStream operation: Bedrock is unable to process it
overload|stream disconnected before completion: Incomplete response returned
overload|litellm.Timeout: AnthropicException - litellm.Timeout: Connection timed out after 600.0 seconds.
contention|programming external connectivity on endpoint web: Bind for 0.0.0.0:8080 failed: port is already allocated
contention|OSError: [Errno 98] Address already in use
contention|Error: listen EADDRINUSE: address already in use :::3000
contention|docker: Error response from daemon: Conflict. The container name "/db" is already in use by container "abc"
contention|fatal: Unable to create '/repo/.git/index.lock': File exists.
contention|sqlite3.OperationalError: database is locked
contention|E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1234 (apt-get)
contention|duplicate session: agent
contention|psycopg2.errors.DuplicateDatabase: database "test" already exists
contention|Error: failed to create network t-bench_default: network with name t-bench_default already exists
contention|error: cannot lock ref 'refs/heads/main': is at abc but expected def
contention|fatal: 'feature' is already checked out at '/tmp/wt'
contention|Blocking waiting for file lock on package cache
saturation|could not find an available, non-overlapping IPv4 address pool among the defaults to assign to the network
saturation|Error response from daemon: all predefined address pools have been fully subnetted
saturation|OSError: [Errno 28] No space left on device
saturation|Killed
saturation|Container exited with code 137 (OOMKilled)
saturation|fork: retry: Resource temporarily unavailable
saturation|RuntimeError: can't start new thread
saturation|OSError: [Errno 24] Too many open files: '/tmp/x'
saturation|java.lang.OutOfMemoryError: Java heap space
saturation|docker.errors.DockerException: Error while fetching server API version: HTTPConnectionPool(host='localhost'
saturation|requests.exceptions.ReadTimeout: UnixHTTPConnectionPool(host='localhost', port=None): Read timed out. (read
saturation|FATAL: sorry, too many clients already
saturation|0/3 nodes are available: 3 Insufficient memory.
network|stream disconnected before completion: error sending request for url (https://api.openai.com/v1/responses)
network|curl: (6) Could not resolve host: github.com
network|fatal: unable to access 'https://github.com/x/y.git/': Could not resolve host: github.com
network|npm ERR! network request to https://registry.npmjs.org/left-pad failed, reason: getaddrinfo EAI_AGAIN registry
network|requests.exceptions.SSLError: HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded with url: /
network|net/http: TLS handshake timeout
network|dial tcp 104.18.121.25:443: i/o timeout
network|urllib3.exceptions.ProxyError: ('Cannot connect to proxy.', OSError('Tunnel connection failed: 403 Forbidden')
network|ssh: connect to host github.com port 22: Connection timed out
network|Temporary failure in name resolution
network|Failed to connect to api.anthropic.com port 443: Connection refused
network|API Error (Connection error.)
network|litellm.APIConnectionError: AnthropicException - Cannot connect to host api.anthropic.com:443 ssl:default [Nam
network|error pulling image configuration: download failed after attempts=6: dial tcp: lookup production.cloudflare.do
network|E: Failed to fetch http://deb.debian.org/debian/pool/main/c/curl_7.deb  Connection failed [IP: 151.101.2.132 8
network|httpx.ConnectTimeout: timed out
network|502 Bad Gateway fetching https://registry.npmjs.org/foo
dependency|error: Microsoft Visual C++ 14.0 or greater is required.
dependency|Your session has expired. Sign in again with `codex login`.
dependency|The OPENAI_API_KEY environment variable is missing or empty
dependency|npm ERR! code E401
dependency|bwrap: No permissions to create new namespace
dependency|Error: Unable to find a suitable version for react-dom
dependency|bash: claude: command not found
dependency|/bin/sh: 1: node: not found
dependency|ModuleNotFoundError: No module named 'yaml'
dependency|error: externally-managed-environment
dependency|ERROR: Package 'foo' requires a different Python: 3.8.10 not in '>=3.10'
dependency|npm ERR! engine Unsupported engine for @anthropic-ai/claude-code@1.0: wanted: {"node":">=18"} (current: {"n
dependency|OSError: libcudart.so.12: cannot open shared object file: No such file or directory
dependency|/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by node)
dependency|E: Unable to locate package python3.11
dependency|exec: "goose": executable file not found in $PATH: unknown
dependency|Invalid API key · Please run /login
dependency|Error: Cannot find module 'express'
dependency|openai.AuthenticationError: Error code: 401 - {'error': {'message': 'Incorrect API key provided'}}
dependency|manifest for foo/bar:latest not found: manifest unknown
dependency|env: 'node': No such file or directory
dependency|pip: not found
dependency|bash: ./agent: Permission denied
dependency|TypeError: unsupported operand type(s) for |: 'type' and 'NoneType'
dependency|AttributeError: module 'collections' has no attribute 'MutableMapping'
dependency|litellm.NotFoundError: model: claude-3-5-sonnet-20240620 does not exist
dependency|failed to solve: process "/bin/sh -c pip install -r requirements.txt" did not complete successfully: exit c
task|anthropic.BadRequestError: prompt is too long: 210000 tokens > 200000 maximum
task|litellm.ContextWindowExceededError: This model's maximum context length is 128000 tokens.
task|LimitsExceeded: cost limit of 3.0 reached
task|Reached maximum number of turns (50)
task|Agent reached maximum iterations
task|Agent reached its maximum of 100 iterations
model|json.decoder.JSONDecodeError: Failed to parse LLM response as JSON
model|Agent stuck in loop: AgentStuckInLoopError
model|ERROR: Found 0 actions in response
unknown|AssertionError: expected 3 got 4
unknown|AssertionError: Lists differ: ['429 Too Many Requests'] != []
unknown|FAILED tests/test_net.py::test_retry - ConnectionError: connection refused
unknown|Expected status 200 but got 503 Service Unavailable from /api/users
unknown|E       AssertionError: 'timeout' != 'connection refused'
unknown|agent_timeout
unknown|127.0.0.1 - - [16/Aug/2025] "GET / HTTP/1.1" 200 "curl/7.88.1"
unknown|make train timed out and has been killed
unknown|Agent timed out after 1800 seconds
unknown|exit code 1
unknown|FAILED tests/test_x.py::test_y - assert 1 == 2
unknown|unset
unknown|KeyError: 'foo'
unknown|Segmentation fault (core dumped)
unknown|Depends on: foo, conflicts with nothing
"""


@pytest.mark.parametrize("told", LINES.strip().splitlines())
def test_what_tools_print_is_recognised(told: str) -> None:
    wanted, _, line = told.partition("|")
    sign = book().strongest(words_in(line))
    assert (sign.cause if sign is not None and sign.strength else FailureCause.UNKNOWN).value == wanted


@pytest.mark.parametrize("line", ["RATE_LIMIT_ERROR", "rate-limit error", '"rate limit", error', "Rate\tLimit:error"])
def test_case_and_punctuation_do_not_matter(line: str) -> None:
    sign = book().strongest(words_in(line))
    assert sign is not None
    assert sign.cause is FailureCause.RATE_LIMIT


def test_a_number_is_not_found_within_a_longer_one() -> None:
    assert book().strongest(words_in("status code 4290 of job 1429")) is None


def test_the_parts_of_a_phrase_are_found_in_order_only() -> None:
    sign = Sign("held", FailureCause.CONTENTION, 3, "", listed(f"port{THEN}taken"), unless=("free",))
    signs = SignBook([sign])
    assert list(signs.signs_in(words_in("port 80 is taken"))) == [sign]
    assert not list(signs.signs_in(words_in("taken: port 80")))
    assert not list(signs.signs_in(words_in("port 80 is taken, port 81 is free")))


@given(st.text(max_size=400))
def test_any_text_has_at_most_one_strongest_sign_and_always_the_same(line: str) -> None:
    assert book().strongest(words_in(line)) == book().strongest(words_in(line))
