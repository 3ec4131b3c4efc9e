"""The file of a group: limits that several repositories share, written once, outside of all of them."""

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from paddock.config.load import read_toml
from paddock.config.user_folder import user_folder
from paddock.core.errors import Misuse
from paddock.core.group.limits import AccountLimits, GroupLimits
from paddock.core.ids import printable
from paddock.core.wording import nearest

Agents = Annotated[int, Meta(ge=0, le=100_000)]
Dollars = Annotated[float, Meta(ge=0, le=1e9)]
Tokens = Annotated[float, Meta(ge=0, le=1e15)]

_AGAIN = "fix the file, then run `paddock group show`"


class AccountTable(msgspec.Struct, frozen=True):
    """What all repositories together may do on one account: agents at the same time, dollars and tokens a day."""

    agents: Agents | None = None
    day_usd: Dollars | None = None
    day_tokens: Tokens | None = None


class GroupFile(msgspec.Struct, frozen=True):
    """`agents` are those on this machine, the rest is of the whole group. `url` is the database that the repositories
    meet in, where they are on several machines; empty: a file of this user's."""

    agents: Agents | None = None
    day_usd: Dollars | None = None
    day_tokens: Tokens | None = None
    accounts: dict[str, AccountTable] = {}
    url: str = ""

    @property
    def limits(self) -> GroupLimits:
        accounts = {
            name: AccountLimits(table.agents, table.day_usd, table.day_tokens) for name, table in self.accounts.items()
        }
        return GroupLimits(self.agents, self.day_usd, self.day_tokens, accounts)


def groups_folder() -> Path:
    return user_folder("XDG_CONFIG_HOME", ".config") / "groups"


def group_file_of(name: str) -> Path:
    return groups_folder() / f"{name}.toml"


def read_group_file(path: Path) -> GroupFile:
    """Without one there are no limits. Raises Misuse naming the file, the key and the nearest known key."""
    if not path.exists():
        return GroupFile()
    try:
        tree = read_toml(path)
    except Misuse as error:
        raise Misuse(error.message, _AGAIN) from None
    _check_keys(tree, GroupFile, path, "")
    accounts = tree.get("accounts", {})
    for name, table in accounts.items() if isinstance(accounts, dict) else ():
        if isinstance(table, dict):
            _check_keys(table, AccountTable, path, f"accounts.{name}.")
    try:
        file = msgspec.convert(tree, GroupFile)
    except msgspec.ValidationError as error:
        raise Misuse(f"{path}: {printable(str(error), 200)}", _AGAIN) from None
    if file.url and not file.url.startswith(("postgresql://", "postgres://", "${")):
        raise Misuse(f"{path}: `url` is no address of a PostgreSQL database", "e.g. `postgresql://USER@HOST/DATABASE`")
    return file


def _check_keys(table: dict[str, object], kind: type[msgspec.Struct], path: Path, prefix: str) -> None:
    known = kind.__struct_fields__
    for key in table:
        if key not in known:
            near = nearest(key, known, cutoff=0.5)
            hint = f"did you mean `{prefix}{near}`?" if near else f"known: {', '.join(known)}"
            raise Misuse(f"{path}: unknown key `{printable(prefix + key, 80)}`", hint)
