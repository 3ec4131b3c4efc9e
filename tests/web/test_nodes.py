"""Nodes on the fleet's page and in the API: slots, what is at work there, drift, and draining by a button."""

from __future__ import annotations

import threading
import urllib.error
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from paddock.fleet.nodes.register import write_register
from tests.cli.node_scene import NodeScene, three_nodes
from tests.fleet.conftest import MakeYard
from tests.web.conftest import Serve
from tests.web.site import MILLISECONDS, PHONE, Site

expect.set_options(timeout=MILLISECONDS)
SETTINGS = '[sessions]\nrunner = "ray"\naddress = "10.0.0.1:6379"\n'


@pytest.fixture
def site(make_yard: MakeYard, serve_yard: Serve) -> Iterator[Site]:
    """What the register tells is renewed as a daemon renews it."""
    yard = make_yard()
    path = yard.top / "paddock.toml"
    path.write_text(path.read_text() + SETTINGS)
    scene, ended = NodeScene(yard.top), threading.Event()
    scene.set_up(three_nodes())

    def renew() -> None:
        while not ended.wait(1.0):
            write_register(scene.workspace.state_dir, three_nodes())

    renewing = threading.Thread(target=renew)
    renewing.start()
    try:
        yield serve_yard(yard)
    finally:
        ended.set()
        renewing.join()


def test_nodes_are_shown_with_their_slots_work_labels_and_drift_and_are_drained_by_a_button(site: Site) -> None:
    page = site.page("/fleet")
    panel = page.locator("section.panel", has=page.get_by_role("heading", name="Nodes"))
    expect(panel).to_contain_text("3 nodes, 3 of 32 slots in use, 1 with a problem")
    gpu = panel.locator("tr", has_text="gpu-1")
    expect(gpu).to_contain_text("2 of 16")
    expect(gpu).to_contain_text("gpu, os=linux")
    expect(gpu.get_by_role("link", name="t1.1")).to_be_visible()
    expect(panel.locator("tr", has_text="n3")).to_contain_text("its manager does not answer")
    expect(panel).to_contain_text("2.0.3 on n2; 2.1.0 on gpu-1")
    panel.get_by_role("button", name="drain n2").click()
    expect(page.get_by_text("nothing new starts on n2")).to_be_visible()
    expect(panel.locator("tr", has_text="n2")).to_contain_text("draining")
    panel.get_by_role("button", name="use n2 again").click()
    expect(panel.locator("tr", has_text="n2")).to_contain_text("up")


def test_the_panel_fits_a_phone_in_the_dark(site: Site) -> None:
    page = site.page("/fleet", size=PHONE, scheme="dark")
    expect(page.get_by_role("button", name="drain gpu-1")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_api_tells_of_nodes_drains_them_and_uses_them_again(site: Site) -> None:
    told = site.get("/api/v1/nodes")
    assert (told["runner"], told["slots"], told["used"]) == ("ray", 32, 3)
    drained = site.post("/api/v1/nodes/drain", {"nodes": ["n2"], "reason": "a new disk"})
    assert (drained["drained"], drained["at_work"]) == (True, ["t3.1"])
    assert site.get("/api/v1/nodes")["nodes"]["n2"]["drain"]["reason"] == "a new disk"
    assert site.get("/api/v1/status")["nodes"]["drained"] == ["n2"]
    assert site.post("/api/v1/nodes/drain", {"nodes": ["n2"], "reason": "a new disk"})["seq"] is None
    assert site.post("/api/v1/nodes/reopen", {"nodes": ["n2"]})["drained"] is False
    for path, nodes, status in (("drain", ["n9"], 404), ("reopen", ["n2"], 409), ("drain", [], 400)):
        with pytest.raises(urllib.error.HTTPError) as refused:
            site.post(f"/api/v1/nodes/{path}", {"nodes": nodes})
        assert refused.value.code == status
        refused.value.close()
