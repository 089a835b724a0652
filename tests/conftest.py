from __future__ import annotations

import shutil
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from symfix.codemods.engine.registry import Registry
from symfix.codemods.harness.children.overlay.import_hooks import collecting_nothing
from symfix.codemods.harness.fork_server import forking
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.temp_folder import scratch_folder
from symfix.codemods.harness.torch_variant import Harness
from symfix.codemods.torchapi.torch_finder import locate

TESTS = Path(__file__).parent
sys.path += [str(TESTS / "support"), str(TESTS.parent / "scripts")]
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
LONG = (
    "verify_extension", "goldens", "verify", "widen_schema", "fix_verify", "cluster", "export_command",
    "export_decisions", "python_traced_goldens", "verify_traced", "verify_patch", "export", "forking", "cache_heals",
    "python_value_decisions", "odd_surroundings", "packaging", "tmux", "planted_faults", "add_fake_kernel",
    "registered_kernels", "mcp_server", "bad_input", "python_captures", "keeping", "fuzz", "python_traced_places",
    "live_export", "report_models", "verify_harm", "cpp_runs", "cli", "python_traced_semantics", "fuzz_operators",
    "examples", "repair_subjects", "baseline", "series_build", "repair_whole", "mcp_tools", "hunt", "series_words",
    "series_send", "xfails_judged", "words", "decision_faults", "python_semantics", "verify_formulas",
    "fix_interactive", "review", "cpp_translate", "trees_are_data", "killed", "explain", "fix_target",
)  # fmt: skip
"""Test files that take longest. They start first, so that no process waits for another at the end."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests, which imports torch, with the garbage collector off. It then ignores these objects."""
    with collecting_nothing():
        return (yield)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the test files that take longest to the front, and mark them."""
    places = {f"test_{name}": number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))
    for item in items:
        if item.path.stem in places:
            item.add_marker("long")


@pytest.fixture(scope="session", autouse=True)
def plain_pytest() -> Iterator[None]:
    """Disable hypothesis in a pytest that a test starts. Its import takes half of the startup time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
        yield


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a cache folder of this test's own and return it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def quick_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make torch's large headers precompiled for the extensions that a test builds, if there is a g++."""
    if shutil.which("g++") is None:
        return
    from precompiling import compiler
    from symfix.codemods.system import cache_folder

    kept = cache_folder.folder("syntax")
    kept.mkdir(parents=True, exist_ok=True)
    for name, value in compiler(tmp_path / "compiler", kept).items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="session")
def ready() -> Iterator[Harness]:
    """Yield a laboratory for all tests whose children are forks of one process with the installed torch."""
    with (
        scratch_folder() as scratch,
        forking(Harness(locate(None, None).python, scratch, Limits()), 2, scripts=True, exchange=True) as laboratory,
    ):
        yield laboratory


@pytest.fixture
def toy() -> Registry:
    """Return the registry of the toy wing in tests/support."""
    return Registry(("toywing",))
