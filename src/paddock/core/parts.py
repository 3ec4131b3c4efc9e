"""Parts of a board that stay encoded until somebody asks for them: most readers never do."""

from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

_Whole = TypeVar("_Whole", bound=msgspec.Struct)
_View = TypeVar("_View", bound=msgspec.Struct)

_encode = msgspec.msgpack.Encoder().encode
_NOTHING = _encode(None)


class LazyPart(Generic[_Whole]):
    """`load` imports the class of the part. One that nobody has written to is nothing, however it was looked at."""

    __slots__ = ("_encoded", "_load", "_whole")

    def __init__(self, load: Callable[[], type[_Whole]], encoded: bytes = b"") -> None:
        self._load = load
        self._encoded = encoded
        self._whole: _Whole | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether nobody has written to it yet; asked of a part that stays encoded, it imports nothing."""
        if self._whole is None:
            return self._encoded in (b"", _NOTHING)
        return self._whole == type(self._whole)()

    def get(self) -> _Whole:
        if self._whole is None:
            self._whole = _decode(self._encoded, self._load())
        return self._whole

    def put(self, whole: _Whole) -> None:
        self._whole = whole

    def view(self, kind: type[_View], look: Callable[[_Whole], _View]) -> _View:
        """Some of its fields, without decoding the others; `look` takes them from a part that is decoded."""
        return _decode(self._encoded, kind) if self._whole is None else look(self._whole)

    def encode(self) -> msgspec.Raw:
        if self._whole is None:
            return msgspec.Raw(self._encoded or _NOTHING)
        return msgspec.Raw(_NOTHING if self.is_nothing else _encode(self._whole))


def _decode(encoded: bytes, kind: type[_View]) -> _View:
    found = msgspec.msgpack.decode(encoded, type=kind | None) if encoded else None
    return kind() if found is None else found
