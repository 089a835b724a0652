"""Tests of the tools of ``symfix mcp`` that run code: verify, export, hunt."""

from __future__ import annotations

import subprocess
from pathlib import Path

from agents import answer, refusal, with_client
from mcp import Client
from running import MENDED, SHAPES, git

TEXT = """from torch import Tensor
def halves(x: Tensor) -> Tensor:
    return x[: x.shape[0] // 2]
"""
PATCH = """--- a/mine.py
+++ b/mine.py
@@ -1,3 +1,3 @@
 from torch import Tensor
 def halves(x: Tensor) -> Tensor:
-    return x[: x.shape[0] // 2]
+    return x[: int(x.shape[0]) // 2]
"""
MODEL = Path(__file__).parents[1] / "golden" / "models" / "item_and_slice.py"


def test_export_returns_a_proven_patch_and_applies_nothing(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_bytes(MODEL.read_bytes())

    async def work(client: Client) -> None:
        found = await answer(client, "export", path="model.py")
        assert found["verdict"] == "proven"
        assert path.read_bytes() == MODEL.read_bytes()
        subprocess.run(["git", "apply"], input=found["patch"], cwd=tmp_path, text=True, check=True)

    with_client(tmp_path, work)
    assert path.read_bytes() != MODEL.read_bytes()
    assert [one.name for one in tmp_path.iterdir()] == ["model.py"]


def test_verify_returns_a_verdict_on_the_change_since_a_revision(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(SHAPES)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")

    async def work(client: Client) -> None:
        assert (await answer(client, "verify", paths=["."]))["verdict"] == "unchanged"
        path.write_text(SHAPES.replace("torch._check_is_size(x.shape[0])", MENDED))
        assert "--call has to end with a call" in await refusal(client, "verify", paths=["."], calls=["f"])
        assert (await answer(client, "verify", paths=["."]))["verdict"] == "unverifiable"

    with_client(tmp_path, work)


def test_verify_judges_a_patch_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(TEXT)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")

    async def work(client: Client) -> None:
        found = await answer(client, "verify", paths=["."], patch=PATCH)
        assert (found["verdict"], found["not_judged"]) == ("unverifiable", [])
        ((use,),) = [found["remaining_uses"]]
        assert use["line"] == 3 and "makes a constant of the size `x.shape[0]`" in use["detail"]
        assert "No valid patches" in await refusal(client, "verify", paths=["."], patch="nothing")

    with_client(tmp_path, work)
    assert path.read_text() == TEXT


def test_hunt_returns_the_operators_that_pass(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        assert (await answer(client, "hunt", operators=["abs"], samples=1))["passed"] == ["abs"]

    with_client(tmp_path, work)
    assert [*tmp_path.iterdir()] == []
