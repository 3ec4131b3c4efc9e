"""The API described for programs: an OpenAPI 3.1 document, made from the table of endpoints."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from paddock import __version__
from paddock.web.access import JSON
from paddock.web.endpoint import Endpoint, NoBody
from paddock.web.problems import ErrorAnswer
from paddock.web.stream import StreamQuery

PREFIX = "/api/v1"
_REFUSALS = {
    400: "the request itself is wrong",
    401: "the token is missing or wrong",
    403: "the Host, the Origin or whoever asks is not allowed",
    404: "there is no such thing",
    409: "refused as things are now",
    503: "the log cannot be read or written, or too much is asked for at once",
}
_REFUSALS_WITH_BODY = {
    408: "the body came too slowly",
    413: "the body is too large",
    415: "the body is not JSON",
}


_NAMES = {
    "task": {"pattern": "^t[1-9][0-9]{0,8}$", "examples": ["t3"]},
    "run": {"pattern": "^r[1-9][0-9]{0,8}$", "examples": ["r7"]},
    "seq": {"pattern": "^[1-9][0-9]{0,14}$", "examples": ["41"]},
}


def describe_api(endpoints: Sequence[Endpoint[Any, Any]], root: str = "") -> dict[str, Any]:
    """`root` precedes all paths, where the server shows several repositories."""
    kinds = [one.answer for one in endpoints] + [one.body for one in endpoints if one.body is not NoBody]
    kinds.append(ErrorAnswer)
    template = "#/components/schemas/{name}"
    schemas, components = msgspec.json.schema_components(kinds, schema_hook=_anything, ref_template=template)
    refs = dict(zip(map(id, kinds), schemas, strict=True))
    paths: dict[str, Any] = {}
    for one in endpoints:
        paths.setdefault(f"{PREFIX}{one.path}", {})[one.method.lower()] = _operation(one, refs)
    paths[f"{PREFIX}/events"] = {"get": _stream(refs)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Paddock",
            "version": __version__,
            "description": "A fleet of coding agents on one git repository. Every answer is JSON, schema 1.",
        },
        **({"servers": [{"url": root}]} if root else {}),
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _anything(_kind: type) -> dict[str, Any]:
    return {"description": "any JSON"}


def _operation(one: Endpoint[Any, Any], refs: dict[int, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.summary,
        "parameters": [*_path_parameters(one.path), *_query_parameters(one.query)],
        "responses": {"200": _json("done" if one.method == "POST" else "found", refs[id(one.answer)])},
    }
    refusals = dict(_REFUSALS)
    if one.method == "POST":
        refusals |= _REFUSALS_WITH_BODY
        body = {"type": "object"} if one.body is NoBody else refs[id(one.body)]
        operation["requestBody"] = {"required": True, "content": {JSON: {"schema": body}}}
    operation["responses"] |= {str(status): _json(words, refs[id(ErrorAnswer)]) for status, words in refusals.items()}
    return operation


def _stream(refs: dict[int, Any]) -> dict[str, Any]:
    about = (
        "Server-sent events. Records of the log have the number of the record as `id`, and the data of `/log/{seq}`; "
        "`event: view` tells a live view and its differences; `event: pulse` comes every 5 s."
    )
    header = {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}}
    return {
        "operationId": "get_events",
        "summary": "What happens, as it happens",
        "description": about,
        "parameters": [*_query_parameters(StreamQuery), header],
        "responses": {
            "200": {"description": "a stream without end", "content": {"text/event-stream": {"schema": {}}}},
            **{str(status): _json(_REFUSALS[status], refs[id(ErrorAnswer)]) for status in (400, 401, 403)},
        },
    }


def _json(words: str, schema: Any) -> dict[str, Any]:
    return {"description": words, "content": {JSON: {"schema": schema}}}


def _path_parameters(path: str) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"\{(\w+)\}", path):
        kind = "task" if path.startswith("/tasks/") else name
        schema = {"type": "string", "minLength": 1, **_NAMES.get(kind, {})}
        yield {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameters(kind: type[msgspec.Struct]) -> Iterator[dict[str, Any]]:
    described = msgspec.json.schema_components([kind], ref_template="{name}")[1]
    for name, schema in described[kind.__name__].get("properties", {}).items():
        yield {"name": name, "in": "query", "required": False, "schema": _in_a_query(schema)}


def _in_a_query(schema: dict[str, Any]) -> dict[str, Any]:
    """What is null is said by not saying it."""
    kinds = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**rest, **kinds[0]} if len(kinds) == 1 else {k: v for k, v in schema.items() if k != "default"}
