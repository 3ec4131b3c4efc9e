"""The configuration in force is on record: at every start, with every edit, and beside the attempts it came during."""

import json

from paddock.core.events import SettingsInForce
from tests.fleet.yard import Yard, commit, write


def in_force(yard: Yard) -> list[SettingsInForce]:
    found = [record.event for record in yard.records(SettingsInForce)]
    return [event for event in found if isinstance(event, SettingsInForce)]


def edit(yard: Yard, text: str) -> None:
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text() + text)


def test_what_changed_between_daemons_and_during_an_attempt_is_told(yard: Yard) -> None:
    yard.run()
    yard.run()
    first, second = in_force(yard)
    assert first == second, "nothing has changed"
    assert first.changes == ()
    edit(yard, "\n[janitor]\nevery = 600\n")
    gate, ready = yard.folder / "gate", yard.folder / "ready"
    yard.add({"run": ["touch", str(ready)]}, {"wait_for": str(gate)}, write("a.txt"), commit())
    daemon = yard.start("run", "--until-idle")
    yard.await_that(ready.exists, "the agent")
    assert in_force(yard)[-1].changes == ("janitor.every is `600.0`, it was `300.0`",)
    assert json.loads(yard.paddock("status", "--json"))["needs_you"]["notices"] == [], "that came before it"
    edit(yard, "\n[limits]\nmerge_queue = 3\n")
    changed = "limits.merge_queue is `3`, it was `200`"
    yard.await_that(lambda: in_force(yard)[-1].changes == (changed,), "the edit")
    [notice] = json.loads(yard.paddock("status", "--json"))["needs_you"]["notices"]
    assert (notice["kind"], notice["text"]) == ("settings-changed", f"the settings changed while t1.1 ran: {changed}")
    gate.touch()
    daemon.wait()
    assert f"while it ran, the settings changed: {changed}" in yard.paddock("show", "t1")
    assert json.loads(yard.paddock("show", "t1", "--json"))["settings_changed"] == {"t1.1": [changed]}
    assert changed in yard.paddock("log")
    assert json.loads(yard.paddock("status", "--json"))["needs_you"]["notices"] == []
    (yard.top / ".git" / "paddock" / "settings.json").unlink()
    edit(yard, "attempts = 1\n")
    yard.run()
    assert in_force(yard)[-1].changes == ("it differs from the one before, which is no longer known",)
