"""Who is let in: headers in, a refusal or none out."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.web.access import (
    TICKET_SECONDS,
    RequestHead,
    ServerAccess,
    denial_of,
    make_ticket,
    opens_with,
    split_host,
    ticket_ends,
)

ACCESS = ServerAccess("127.0.0.1", 6174, "f" * 64)
HOST = "127.0.0.1:6174"
BEARER = f"Bearer {ACCESS.token}"
COOKIE = f"{ACCESS.cookie}={ACCESS.cookie_value}"
JSON = "application/json"
words = st.text(string.printable, max_size=40)


def _code(head: RequestHead, access: ServerAccess = ACCESS) -> str | None:
    denial = denial_of(access, head)
    return denial.code if denial is not None else None


def _get(path: str = "/api/v1/status", **headers: str | None) -> RequestHead:
    return RequestHead("GET", path, **{"host": HOST, "authorization": BEARER, **headers})


def _post(**headers: str | None) -> RequestHead:
    told = {"host": HOST, "authorization": BEARER, "content_type": JSON, **headers}
    return RequestHead("POST", "/api/v1/tasks/approve", **told)


def test_a_script_with_the_token_comes_in() -> None:
    assert _code(_get()) is None
    assert _code(_post()) is None


def test_the_page_with_its_cookie_comes_in() -> None:
    page = {"authorization": None, "cookie": f"a=b; {COOKIE}", "origin": f"http://{HOST}", "site": "same-origin"}
    assert _code(_post(**page)) is None
    assert _code(_get(authorization=None, cookie=COOKIE, site="same-origin")) is None


def test_a_cookie_that_another_server_of_this_machine_has_set_shuts_nobody_out() -> None:
    assert _code(_get(authorization=None, cookie=f"{ACCESS.cookie}=planted; {COOKIE}")) is None
    assert _code(_get(authorization=None, cookie=f"{ACCESS.cookie}=planted; {ACCESS.cookie}=")) == "token"


def test_a_ticket_is_good_for_a_while_and_only_as_it_was_made() -> None:
    ticket = make_ticket(ACCESS.token, 1000.5)
    assert ticket_ends(ACCESS, ticket) == 1000 + TICKET_SECONDS
    assert ticket_ends(ACCESS, f"9{ticket}") == 0
    assert ticket_ends(ACCESS, make_ticket("another", 1000.5)) == 0
    assert ticket_ends(ServerAccess("127.0.0.1", 6174), make_ticket("", 1000.5)) == 0
    assert make_ticket(ACCESS.token, 1000.5) != ticket
    assert ACCESS.token not in ticket


@given(words)
def test_what_is_no_ticket_opens_nothing(said: str) -> None:
    assert ticket_ends(ACCESS, said) == 0


@given(words)
def test_no_other_token_opens_anything(said: str) -> None:
    for path in ("/", "/api/v1/status", "/metrics", "/tasks/t1", "/api/v1/events"):
        assert _code(_get(path, authorization=f"Bearer {said}")) == "token"
        assert _code(_get(path, authorization=None, cookie=f"{ACCESS.cookie}={said}")) == "token"
        assert not opens_with(ACCESS, _get(path), said)
    assert _code(_post(authorization=f"Basic {said}")) == "token"


def test_the_cookie_is_no_token_and_the_token_no_cookie() -> None:
    assert _code(_get(authorization=f"Bearer {ACCESS.cookie_value}")) == "token"
    assert _code(_get(authorization=None, cookie=f"{ACCESS.cookie}={ACCESS.token}")) == "token"
    assert _code(_get(authorization=None, cookie=f"paddock-6175={ACCESS.cookie_value}")) == "token"


@given(
    st.one_of(st.none(), words, st.from_regex(r"[a-z0-9-]{1,20}\.(com|local|localhost)(:[0-9]{1,5})?", fullmatch=True))
)
def test_a_name_that_is_not_this_machines_is_refused_even_with_the_token(host: str | None) -> None:
    name = split_host(host) if host is not None else None
    if name not in ACCESS.names:
        assert _code(_get(host=host)) == "host"
        assert _code(_post(host=host)) == "host"
        assert _code(_get("/healthz", host=host)) == "host"


@pytest.mark.parametrize("host", ["127.0.0.1", "LOCALHOST:9", "localhost:6174", "[::1]:6174", "[::1]"])
def test_loopback_is_known_by_its_names_at_any_port_of_a_tunnel(host: str) -> None:
    assert _code(_get(host=host)) is None


@pytest.mark.parametrize(
    "host",
    [
        "",
        ":6174",
        "[::1",
        "[::1]x",
        "[127.0.0.1]",
        "localhost:x",
        "localhost.",
        "127.0.0.1.evil.com",
        "localhost:\u0662",
    ],
)
def test_what_is_no_host_is_refused(host: str) -> None:
    assert _code(_get(host=host)) == "host"


@given(words, st.sampled_from(["cross-site", "same-site", "none", None]))
def test_a_request_from_a_page_of_another_origin_is_refused_even_with_cookie_and_token(
    said: str, site: str | None
) -> None:
    for origin in (
        said,
        "null",
        f"http://{said}",
        "http://localhost:3000",
        "http://127.0.0.1",
        f"http://{HOST}.evil.com",
    ):
        if origin.lower() != f"http://{HOST}":
            assert _code(_post(origin=origin, site=site, cookie=COOKIE)) == "origin"
            assert _code(_get(origin=origin, site=site)) == "origin"


@pytest.mark.parametrize("site", ["cross-site", "same-site", "something-new"])
def test_data_is_not_for_pages_of_others_even_of_this_machine(site: str) -> None:
    assert _code(_get(site=site)) == "origin"
    assert _code(_get("/metrics", site=site)) == "origin"
    assert _code(_get("/api/v1/events", site=site, authorization=None, cookie=COOKIE)) == "origin"


def test_a_cookie_alone_does_nothing_for_a_browser_that_does_not_say_where_it_asks_from() -> None:
    assert _code(_post(authorization=None, cookie=COOKIE)) == "origin"


@pytest.mark.parametrize(
    "kind", [None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp"]
)
def test_what_a_form_can_send_is_refused(kind: str | None) -> None:
    assert _code(_post(content_type=kind)) == "content-type"
    assert _code(_post(content_type="Application/JSON; charset=utf-8")) is None


def test_a_link_from_elsewhere_opens_the_page_but_not_without_the_token() -> None:
    link = {"site": "cross-site", "authorization": None}
    assert _code(_get("/tasks/t1", **link)) == "token"
    assert opens_with(ACCESS, _get("/tasks/t1", **link), ACCESS.token)
    assert not opens_with(ACCESS, _get("/api/v1/status", **link), ACCESS.token)
    assert not opens_with(ACCESS, _post(), ACCESS.token)


def test_without_a_token_pages_of_others_still_cannot_ask() -> None:
    access = ServerAccess("127.0.0.1", 6174)
    assert _code(_get(authorization=None), access) is None
    assert _code(_post(authorization=None, origin="http://evil.com"), access) == "origin"
    assert _code(_get(authorization=None, host="evil.com"), access) == "host"
    assert not opens_with(access, _get("/"), "")


def test_on_every_address_a_number_is_enough_but_no_strange_name() -> None:
    access = ServerAccess("0.0.0.0", 6174, ACCESS.token, frozenset({"workshop"}))
    assert _code(_get(host="192.168.1.5:6174"), access) is None
    assert _code(_get(host="[fe80::1]:6174"), access) is None
    assert _code(_get(host="workshop:6174"), access) is None
    assert _code(_get(host="workshop.evil.com"), access) == "host"
    only_one = ServerAccess("192.168.1.6", 6174, ACCESS.token, frozenset({"192.168.1.6"}))
    assert _code(_get(host="192.168.1.5:6174"), only_one) == "host"


@given(
    st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "X"]),
    words,
    words,
    words,
    words,
    words,
)
def test_whatever_is_said_is_judged_and_nothing_unsafe_comes_in_without_the_token(
    method: str, path: str, host: str, origin: str, cookie: str, authorization: str
) -> None:
    head = RequestHead(method, f"/{path}", host, origin, None, cookie, authorization, JSON)
    if method not in ("GET", "HEAD"):
        assert denial_of(ACCESS, head) is not None
