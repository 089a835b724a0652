from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from symfix.codemods.harness.children.overlay import changed_torch, import_hooks
from symfix.codemods.harness.children.overlay.hot_swap import TooDeep, exchange
from symfix.codemods.harness.fork_server import forking
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.temp_folder import scratch_folder
from symfix.codemods.harness.torch_variant import Harness, Variant
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.workflows.repair.trials import try_all

BEFORE = """
from __future__ import annotations
import functools
SEEN = []
def noted(function):
    @functools.wraps(function)
    def call(*args):
        SEEN.append(function.__name__)
        return function(*args)
    return call
@noted
def half(n):
    return n / 2
def adder(step):
    def add(n):
        return n + step
    return add
add_two = adder(2)
class Box:
    def size(self):
        return 1
BOX = Box()
"""
KERNELS = """
class Table(dict):
    def py_impl(self, key):
        return lambda function: self.setdefault(key, function)
HALVES = Table()
register_decomposition = HALVES.py_impl
@register_decomposition("half of")
@noted
def half_of(n):
    return n / 2
@noted
@register_decomposition("inner")
def inner(n):
    return n
"""

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="codes tell their functions from Python 3.11 on")


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    (tmp_path / "exchanged_here.py").write_text(BEFORE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("exchanged_here")
    del sys.modules["exchanged_here"]


NOTHING = import_hooks.Used()


def exchanged(module: ModuleType, after: str, folder: Path, used: import_hooks.Used = NOTHING) -> None:
    (folder / "after.py").write_text(after)
    exchange({module.__name__: str(folder / "after.py")}, used)


def test_who_holds_a_function_runs_its_new_code(module: ModuleType, tmp_path: Path) -> None:
    half, add_two, box = module.half, module.add_two, module.BOX
    after = BEFORE.replace("n / 2", "n // 2").replace("n + step", "n - step").replace("return 1", "return 7")
    exchanged(module, after, tmp_path)
    assert (half(5), add_two(5), box.size()) == (2, 3, 7)
    assert module.SEEN == ["half"], "the decorator stands as it was"


def test_what_is_new_at_the_top_is_there(module: ModuleType, tmp_path: Path) -> None:
    after = BEFORE.replace("import functools\n", "import functools\nimport math\nfrom operator import floordiv, neg\n")
    after = after.replace("return n / 2", "return down(n)")
    after = after.replace("@noted", "def down(n):\n    return neg(floordiv(n, 2)) + math.pi * 0\n@noted")
    half = module.half
    exchanged(module, after, tmp_path)
    assert half(5) == -2


def test_an_error_names_the_line_of_the_new_text(module: ModuleType, tmp_path: Path) -> None:
    half = module.half
    exchanged(module, BEFORE.replace("@noted", "# one more line\n@noted").replace("n / 2", "n / 0"), tmp_path)
    with pytest.raises(ZeroDivisionError) as caught:
        half(1)
    assert "return n / 0" in str(caught.traceback[-1].statement)


@pytest.fixture
def kernels(module: ModuleType, tmp_path: Path) -> ModuleType:
    text = BEFORE + KERNELS
    Path(str(module.__file__)).write_text(text)
    exec(compile(text, str(module.__file__), "exec"), vars(module))
    return module


def test_what_a_function_is_newly_registered_for_finds_it(kernels: ModuleType, tmp_path: Path) -> None:
    """Use a registration as for a composite operator whose reference is in the file."""
    after = (BEFORE + KERNELS).replace('("half of")\n', '("half of")\n@HALVES.py_impl("for tracing")\n')
    exchanged(
        kernels, after.replace("def half_of(n):\n    return n / 2", "def half_of(n):\n    return n // 2"), tmp_path
    )
    assert list(kernels.HALVES) == ["half of", "inner", "for tracing"]
    assert kernels.HALVES["for tracing"] is kernels.half_of and kernels.half_of(5) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@noted\n@register", '@noted\n@HALVES.py_impl("for tracing")\n@register'),
        ("def inner(n)", '@HALVES.py_impl("for tracing")\ndef inner(n, by=2)'),
        ("def half_of(n)", '@HALVES.py_impl("for tracing")\ndef half_of(n)'),
    ],
    ids=["below what wraps", "another signature beside", "what is wrapped"],
)
def test_what_a_wrapper_hides_is_registered_by_an_import_alone(
    kernels: ModuleType, tmp_path: Path, old: str, new: str
) -> None:
    assert old in KERNELS
    with pytest.raises(TooDeep):
        exchanged(kernels, BEFORE + KERNELS.replace(old, new), tmp_path)
    assert list(kernels.HALVES) == ["half of", "inner"]


def test_a_name_that_was_given_away_is_not_registered(kernels: ModuleType, tmp_path: Path) -> None:
    kernels.half_of = kernels.half
    after = (BEFORE + KERNELS).replace('("half of")\n', '("half of")\n@HALVES.py_impl("for tracing")\n')
    with pytest.raises(TooDeep, match="half_of"):
        exchanged(kernels, after, tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SEEN = []", "SEEN = [1]"),
        ("SEEN = []\n", ""),
        ("@noted\n", ""),
        ("@noted\n", "@noted\n@noted\n"),
        ("def half(n)", "def half(n, by=2)"),
        ("BOX = Box()", "BOX = Box()\nOTHER = Box()"),
        ("class Box:", "class Box:\n    full = True"),
        ("        return n + step", "        return n + 2"),
        ("def size(self):", "def size(self) -> int:"),
        ("    def add(n):", "    def add(n, *more):"),
        ("        return n + step", "        yield n + step"),
    ],
)
def test_what_only_an_import_brings_is_refused(module: ModuleType, tmp_path: Path, old: str, new: str) -> None:
    assert old in BEFORE
    with pytest.raises(TooDeep):
        exchanged(module, BEFORE.replace(old, new), tmp_path)
    assert (module.half(5), module.add_two(5), module.BOX.size()) == (2.5, 7, 1), "nothing changed"


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModuleType, import_hooks.Used]]:
    """Yield a module with a record of its import, which has run `noted` and `adder`, and read `quarter`."""
    (tmp_path / "noted_here.py").write_text(BEFORE + READ)
    monkeypatch.syspath_prepend(tmp_path)
    used = import_hooks.Used()
    with used.noting():
        module = importlib.import_module("noted_here")
    yield module, used
    del sys.modules["noted_here"]


READ = """
import inspect
def quarter(n):
    return n / 4
def eighth(n):
    return [each / 8 for each in [n]][0]
TEXT = inspect.getsource(quarter)
eighth(8)
"""


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("    return call\n", "    return functools.wraps(function)(call)\n", "noted"),
        ("    return add\n", "    return lambda n: add(n)\n", "adder"),
        ("n / 4", "n // 4", "quarter"),
        ("each / 8", "each // 8", "eighth.<locals>.<listcomp>"),
        ("[n]][0]", "[n]][-1]", "eighth"),
    ],
)
def test_what_the_import_ran_or_read_an_import_alone_changes(
    imported: tuple[ModuleType, import_hooks.Used], tmp_path: Path, old: str, new: str, why: str
) -> None:
    module, used = imported
    text = BEFORE + READ
    assert old in text
    with pytest.raises(TooDeep, match="the import ran or read"):
        exchanged(module, text.replace(old, new), tmp_path, used)
    exchanged(module, text.replace("n / 2", "n // 2").replace("class Box", "# lower\nclass Box"), tmp_path, used)
    assert module.half(5) == 2, f"{why} stands as it was, if lower down"


def test_annotations_are_those_that_an_import_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def typed():\n    def inner(n: int):\n        return n\n    return inner\n"
    (tmp_path / "typed_here.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("typed_here")
    exchanged(module, text.replace("return n\n", "return n + 1\n"), tmp_path)
    assert module.typed()(1) == 2 and module.typed().__annotations__ == {"n": int}


def test_who_calls_what_the_import_made_runs_the_new_code(
    imported: tuple[ModuleType, import_hooks.Used], tmp_path: Path
) -> None:
    module, used = imported
    exchanged(module, (BEFORE + READ).replace("n + step", "n - step"), tmp_path, used)
    assert module.add_two(5) == 3, "the import has run what is around it alone"


@pytest.mark.parametrize(
    ("added", "why"),
    [
        ("def SEEN():\n    return 1\n", "SEEN has another meaning"),
        ("from operator import neg as half\n", "half has another meaning"),
        ("import math as BOX\n", "BOX has another meaning"),
        ("from operator import *\n", "has another meaning"),
    ],
)
def test_a_name_that_means_something_else_so_far_is_given_by_an_import_alone(
    module: ModuleType, tmp_path: Path, added: str, why: str
) -> None:
    with pytest.raises(TooDeep, match=why):
        exchanged(module, BEFORE + added, tmp_path)


def test_what_is_not_imported_any_more_goes_by_an_import_alone(module: ModuleType, tmp_path: Path) -> None:
    after = BEFORE.replace("import functools\n", "from functools import wraps\n").replace("functools.wraps", "wraps")
    with pytest.raises(TooDeep, match="`import functools` is gone"):
        exchanged(module, after.replace("@wraps(function)", "@functools.wraps(function)"), tmp_path)


def test_an_import_may_name_one_thing_more_and_a_package_another_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import os\nfrom operator import neg\ndef half(n):\n    return n / 2\n"
    (tmp_path / "naming_here.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("naming_here")
    after = text.replace("import os\n", "import os\nimport os.path\n").replace("import neg", "import floordiv, neg")
    exchanged(module, after.replace("return n / 2", "return neg(floordiv(n, 2))"), tmp_path)
    assert module.half(5) == -2


def test_where_nobody_noted_what_an_import_used_nothing_is_exchanged(module: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "after.py").write_text(BEFORE)
    with pytest.raises(TooDeep, match="not noted"):
        exchange({module.__name__: str(tmp_path / "after.py")}, None)


@pytest.fixture(scope="module")
def laboratory() -> Iterator[Harness]:
    with scratch_folder() as scratch:
        yield Harness(locate(None, None).python, scratch, Limits(wall=300.0, cpu=300))


def test_a_fork_says_what_a_process_of_its_own_says(laboratory: Harness) -> None:
    masked = locate(None, None).package / "masked" / "_ops.py"
    text = masked.read_text()
    condition = "if mask.shape != input.shape:"
    assert condition in text
    file = laboratory.scratch / "masked.py"
    file.write_text(text.replace(condition, "if True:  # more than one\n        # line"))
    raising = laboratory.scratch / "raising.py"
    raising.write_text(text + "\nraise RuntimeError('at its import')\n")
    asked = {"masked.amax": -1, "abs": -1}
    with forking(laboratory, 2, exchange=True) as quick:
        for changed in (file, raising, None):
            variant = Variant("tried", modules={"torch.masked._ops": changed} if changed else {})
            # One new process is enough for the comparison.
            warm, cold = (try_all(one, variant, asked, 2, jobs) for one, jobs in ((quick, 2), (laboratory, 1)))
            assert warm == cold
            assert bool(warm.broken) == (changed == raising)
        assert {name: trial.verdict for name, trial in warm.trials.items()} == {
            "abs": "passed",
            "masked.amax": "failed",
        }
        again = try_all(quick, Variant("tried", modules={"torch.masked._ops": file}), asked, 2, 2)
        assert again.trials["masked.amax"].passed, "one fork leaves nothing to the next"


def test_a_torch_that_was_started_with_a_change_is_forked(laboratory: Harness) -> None:
    masked = locate(None, None).package / "masked" / "_ops.py"
    laid, other, script = (laboratory.scratch / name for name in ("laid.py", "other.py", "asks.py"))
    laid.write_text(masked.read_text() + "\nSTARTED_WITH = [1]\n")  # hot swapping can't add it
    other.write_text(masked.read_text() + "\nSTARTED_WITH = [2]\n")
    script.write_text("import torch.masked._ops as ops\nraise SystemExit(2 * ops.STARTED_WITH.pop())\n")
    with forking(laboratory, 1, laid=Variant("laid", modules={"torch.masked._ops": laid})) as quick:
        for _ in range(2):  # a fork has no effect on the next one
            assert _exit(quick, Variant("after", modules={"torch.masked._ops": laid})) == "exit 2"
        assert _exit(quick, Variant("other", modules={"torch.masked._ops": other})) == "exit 4"
        assert "STARTED_WITH" in _exit(quick, Variant("installed")), "a process of its own, without the change"


def test_a_fork_tells_what_the_import_and_its_own_script_started(laboratory: Harness) -> None:
    masked = locate(None, None).package / "masked" / "_ops.py"
    laid, script = laboratory.scratch / "telling.py", laboratory.scratch / "starts.py"
    text = masked.read_text() + "\nSTARTED = 1\n\n\ndef started():\n    return 2\n"
    laid.write_text(text)
    script.write_text("import torch.masked._ops as ops\nops.started()\n")
    lines = len(text.splitlines())
    wanted = {"torch.masked._ops": tuple((line, (line,)) for line in (lines - 4, lines))}
    after = Variant("after", modules={"torch.masked._ops": laid}, wanted=wanted)
    with forking(laboratory, 1, laid=after) as quick:
        ready = script.with_name("ready.py")
        ready.write_text("import sys\nassert 'torch._dynamo' in sys.modules\n")
        first, second, other = (
            quick.replay(after, ready),
            quick.replay(after, script),
            quick.replay(Variant("after", modules=after.modules, wanted={"torch.masked._ops": ()}), ready),
        )
    assert first.observation.passed and first.ran == {"torch.masked._ops": [0]}
    assert second.observation.passed and second.ran == {"torch.masked._ops": [0, 1]}
    assert not other.observation.passed, "a process of its own, for other statements"


def _exit(laboratory: Harness, variant: Variant) -> str:
    return laboratory.replay(variant, laboratory.scratch / "asks.py").observation.message


def test_a_fork_leaves_the_processors_to_others_where_it_is_told_to(laboratory: Harness, scripts: Harness) -> None:
    script = laboratory.scratch / "nice.py"
    script.write_text("import os\nimport torch\nraise SystemExit(os.nice(0))\n")
    aside = replace(scripts, limits=replace(scripts.limits, aside=True))
    said = [one.replay(Variant("installed"), script).observation.message for one in (scripts, aside, scripts)]
    assert said[0] == said[2] != said[1] == "exit 19"


def test_where_no_fork_can_be_had_a_process_is_started(laboratory: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    with forking(laboratory, 1) as quick:
        monkeypatch.setattr("symfix.codemods.harness.fork_server.Server.fork", lambda *_: None)
        assert try_all(quick, Variant("installed"), {"abs": -1}, 1, 1).trials["abs"].passed


def test_torchs_tests_find_no_scipy_and_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "scipy", raising=False)
    found: list[bool] = []
    monkeypatch.setattr(importlib, "import_module", lambda _: found.append(find_spec("scipy") is not None))
    for name in ("torch", "torch.testing._internal.common_methods_invocations", "json"):
        import_hooks.imported(name)
    assert found == [True, False, True]


LISTED = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
from import_hooks import imported
take = importlib.import_module if sys.argv[2] == "with" else imported
database = take("torch.testing._internal.common_methods_invocations").op_db
rows = [
    [one.full_name, type(one).__name__, sorted(map(str, one.dtypes)), one.error_inputs_func is None] for one in database
]
print(json.dumps(["scipy" in sys.modules, rows]))
"""


def test_torch_has_the_same_operators_without_scipy() -> None:
    pytest.importorskip("scipy")

    def listed(how: str) -> Any:
        folder = Path(import_hooks.__file__).parent
        return subprocess.Popen([sys.executable, "-c", LISTED, folder, how], stdout=subprocess.PIPE)

    with listed("with") as first, listed("without") as second:
        (scipy, known), (none, found) = (json.loads(one.communicate()[0]) for one in (first, second))
    assert (scipy, none) == (True, False)
    assert known == found


OWN = "import sys\nassert 'torch' not in sys.modules\n"
READY = "import sys\nassert 'torch._dynamo' in sys.modules\n"
SETTING = "import torch\ntorch.backends.cudnn.deterministic = True  # which torch's tests forbid\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (READY, ""),
        (READY + "sys.modules.pop('torch._dynamo')\n", ""),
        (READY + "import gc\nassert gc.isenabled() and gc.get_threshold()[0] < 20_000\n", ""),
        ("import os\nos.environ.get('TORCH_LOGS')\n" + OWN, ""),
        ("from os import environ as told\n" + OWN, ""),
        ("import numpy\n" + OWN, ""),
        (OWN + "exec('import torch')\n", ""),
        (SETTING, ""),
        (SETTING + "import torch.testing._internal.common_utils\n" + SETTING, "RuntimeError: not allowed"),
        (READY + "import os\nos.kill(os.getpid(), 11)\n", "ended by signal SIGSEGV"),
    ],
)
def test_a_script_finds_torch_and_not_its_tests(laboratory: Harness, scripts: Harness, text: str, said: str) -> None:
    script = laboratory.scratch / "script.py"
    script.write_text(text)
    replayed = scripts.replay(Variant("installed"), script)
    assert replayed.observation.message.startswith(said)
    assert replayed.observation.passed == (not said)


@pytest.fixture(scope="module")
def scripts(laboratory: Harness) -> Iterator[Harness]:
    with forking(laboratory, 1, scripts=True) as quick:
        yield quick


def test_a_file_that_is_imported_already_is_not_laid_over_in_a_fork(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changed_torch, "imported_already", True)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    own, text = tmp_path / "own_and_new.py", tmp_path / "text"
    own.write_text("VALUE = 1\n")
    text.write_text("VALUE = 2\n")
    with pytest.raises(TooDeep, match="already imported"):
        changed_torch.overlay({str(Path(json.__file__)): str(text)})
    changed_torch.overlay({str(own): str(text)})
    assert importlib.import_module("own_and_new").VALUE == 2
