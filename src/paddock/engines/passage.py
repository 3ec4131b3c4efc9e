"""Which variables of yours an engine lets through to its CLI, and which only where a cloud's own login is chosen."""

from collections.abc import Mapping
from dataclasses import dataclass

_OFF = ("", "0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Cloud:
    """`names` pass when one of the variables `flags` is switched on, or the model begins with one of `models`; then
    the CLI also needs `files`, below HOME."""

    names: tuple[str, ...]
    flags: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def is_chosen(self, environment: Mapping[str, str], model: str) -> bool:
        by_flag = any(environment.get(flag, "").strip().lower() not in _OFF for flag in self.flags)
        return by_flag or (bool(self.models) and model.startswith(self.models))


@dataclass(frozen=True, slots=True)
class Passage:
    """A name may end in `*`. Flags of clouds are among the names that always pass."""

    always: tuple[str, ...] = ()
    clouds: tuple[Cloud, ...] = ()

    def names(self, environment: Mapping[str, str], model: str | None = None) -> tuple[str, ...]:
        return (*self.always, *(name for cloud in self.chosen(environment, model) for name in cloud.names))

    def chosen(self, environment: Mapping[str, str], model: str | None = None) -> tuple[Cloud, ...]:
        return tuple(cloud for cloud in self.clouds if cloud.is_chosen(environment, model or ""))


GOOGLE_LOGIN = ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "CLOUD_ML_REGION")
GOOGLE_FILES = (".config/gcloud",)
AWS_LOGIN = ("AWS_*",)
AWS_FILES = (".aws",)
