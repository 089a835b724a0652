"""Tests of the places of imports: only once, next to existing ones, in the function or at the top."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from goldens import installed_torch
from symfix.codemods.engine.fixpoint import FixOptions, rewrite
from symfix.codemods.engine.registry import load_language, load_rules
from symfix.codemods.model.edit import Edit, apply
from symfix.codemods.model.outcome import Changed
from symfix.codemods.model.rule import Context, Fix, Safety
from symfix.codemods.model.source_file import SourceFile
from symfix.python.rewrite.imports import complete

BRANCH = "def f(a: Tensor):\n    if a.size(0) == 1:\n        return a[0]\n    return a\n"
NEED = "from torch.fx.experimental.symbolic_shapes import guard_or_false\n"


def mended(text: str, *, path: str = "model.py", oldest: tuple[int, int] | None = None) -> str:
    """Return the text after `guard_size_branches` and `use_sym_min_max` with unsafe fixes."""
    chosen = ("guard_size_branches", "use_sym_min_max")
    rules = [rule for rule in load_rules("symfix.python") if rule.name in chosen]
    context = Context(installed_torch(), oldest, all_functions=True, drop_torchscript=True)
    source = SourceFile(Path(path), text.encode())
    outcome = rewrite(source, rules, load_language("symfix.python"), context, FixOptions(unsafe=True, polish=False))
    return outcome.after.decode() if isinstance(outcome, Changed) else text


def test_several_modules_are_imported_each_on_its_line() -> None:
    source = SourceFile(Path("model.py"), b"import os\n\n\nx = 1\n")
    needs = ("torch", "math")
    wanted = [Fix("r", 2, Safety.UNSAFE, (Edit(12, 12, b""),), "m", needs=(need,)) for need in needs]
    edits = complete(source, wanted, Context(installed_torch()))
    assert apply(source.content, edits) == b"import math\nimport os\nimport torch\n\n\nx = 1\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import ast\nimport sys\nimport torch\n", "import ast\nimport math\nimport sys\nimport torch\n"),
        (
            "import ast\nfrom os import path\nimport torch\n",
            "import ast\nimport math\nfrom os import path\nimport torch\n",
        ),
        ("from abc import ABC\n\nimport torch\n", "import math\nfrom abc import ABC\n\nimport torch\n"),
        (
            "from __future__ import annotations\nimport torch\n",
            "from __future__ import annotations\nimport math\nimport torch\n",
        ),
        ("import torch\n", "import math\n\nimport torch\n"),
    ],
)
def test_a_module_of_the_standard_library_stands_among_its_kind(before: str, after: str) -> None:
    source = SourceFile(Path("model.py"), before.encode())
    fix = Fix("r", 2, Safety.UNSAFE, (Edit(len(before), len(before), b""),), "m", needs=("math",))
    assert apply(source.content, complete(source, [fix], Context(installed_torch()))) == after.encode()


def test_a_package_is_imported_before_its_modules() -> None:
    source = SourceFile(Path("model.py"), b"import os\n\nimport torch.nn as nn\nfrom torch import Tensor\n")
    (edit,) = complete(
        source, [Fix("r", 2, Safety.UNSAFE, (Edit(20, 20, b""),), "m", needs=("torch",))], Context(installed_torch())
    )
    assert (edit.start, edit.text) == (source.content.index(b"import torch.nn"), b"import torch\n")


@pytest.mark.parametrize(
    ("head", "mended_head"),
    [
        ("from torch import Tensor\n", f"from torch import Tensor\n{NEED}"),
        (
            '"""Doc."""\nimport os\nimport torch\nfrom torch import Tensor\nfrom torch.nn import Module\n',
            f'"""Doc."""\nimport os\nimport torch\nfrom torch import Tensor\n{NEED}from torch.nn import Module\n',
        ),
        (
            "from torch import Tensor\n\nfrom ..cache import Cache\n",
            f"from torch import Tensor\n{NEED}\nfrom ..cache import Cache\n",
        ),
        (
            "from torch import Tensor\nfrom torch.fx.experimental.symbolic_shapes import sym_eq\n",
            "from torch import Tensor\nfrom torch.fx.experimental.symbolic_shapes import guard_or_false, sym_eq\n",
        ),
        (
            "from torch import Tensor\nfrom torch.fx.experimental.symbolic_shapes import (\n    sym_and,\n)\n",
            "from torch import Tensor\nfrom torch.fx.experimental.symbolic_shapes import (\n"
            "    guard_or_false,\n    sym_and,\n)\n",
        ),
    ],
)
def test_in_users_code_the_import_stands_at_the_top_in_order(head: str, mended_head: str) -> None:
    assert mended(head + BRANCH).startswith(mended_head)


def test_two_sites_share_one_import() -> None:
    text = "from torch import Tensor\n" + BRANCH + BRANCH.replace("f(", "g(")
    assert mended(text).count("import guard_or_false") == 1
    assert mended(text, path="torch/_refs/a.py").count("import guard_or_false") == 2


def test_in_torch_the_import_is_local_and_after_the_docstring() -> None:
    body = "    # first\n    return a if a.size(0) == 1 else a[0]\n"
    text = f'from torch import Tensor\ndef f(a: Tensor):\n    """Doc."""\n{body}'
    lines = mended(text, path="torch/_refs/a.py").splitlines()
    assert lines[2:6] == ['    """Doc."""', f"    {NEED.strip()}", "", "    # first"]


def test_a_later_import_in_the_function_is_no_help() -> None:
    later = BRANCH.replace("    return a\n", f"    {NEED}    return guard_or_false(a.dim() == 1)\n")
    assert mended("from torch import Tensor\n" + later, path="torch/_refs/a.py").count("import guard_or_false") == 2


def test_an_import_for_type_checkers_is_no_help() -> None:
    head = f"from typing import TYPE_CHECKING\nfrom torch import Tensor\nif TYPE_CHECKING:\n    {NEED}"
    assert mended(head + BRANCH).count("import guard_or_false") in (1, 2)
    assert "\n" + NEED in mended(head + BRANCH) or mended(head + BRANCH) == head + BRANCH


def test_an_alias_is_used() -> None:
    head = "from torch import Tensor\nfrom torch.fx.experimental.symbolic_shapes import guard_or_false as g\n"
    assert "if g(a.size(0) == 1):" in mended(head + BRANCH)


def test_an_older_torch_gets_a_fallback_at_the_top() -> None:
    after = mended("from torch import Tensor\n" + BRANCH, oldest=(2, 6))
    assert after.index("except ImportError:  # torch < 2.8") < after.index("def f(")
    assert "if guard_or_false(a.size(0) == 1):" in after


def test_torch_is_imported_when_its_name_is_used() -> None:
    text = "from torch import Tensor\ndef f(a: Tensor):\n    return min(a.size(0), 8)\n"
    assert mended(text).startswith("import torch\nfrom torch import Tensor\n")
    assert "torch.sym_min(a.size(0), 8)" in mended(text)


def test_one_line_functions_import_in_their_line() -> None:
    text = "from torch import Tensor\ndef f(a: Tensor): return a if a.size(0) == 1 else a[0]\n"
    assert f"def f(a: Tensor): {NEED.strip()}; return a if guard_or_false(a.size(0) == 1) else a[0]\n" in mended(
        text, path="torch/_refs/a.py"
    )


SMALLER = "def f(a: Tensor, b: Tensor):\n    return min(a.size(0), b.size(0))\n"


@pytest.mark.parametrize(
    "head",
    [
        'import os; from torch import Tensor; D = """first\nsecond"""\n',
        '"""Says what.\n# it is"""; from torch import Tensor\n',
        'from __future__ import annotations; from torch import Tensor; X = """\n"""\n',
        "x = 1; from torch import Tensor\n",
        "@str\n@(lambda x: x)\nclass D:\n    from torch import Tensor\n\n\nfrom torch import Tensor\n",
        '"""Says what."""\n@str\n@(lambda x: x)\nclass D:\n    """D."""\n\n\nfrom torch import Tensor\n',
    ],
)
def test_an_import_at_the_top_stays_out_of_strings_and_decorated_classes(head: str) -> None:
    after = mended(head + SMALLER)
    tree = ast.parse(after)
    assert "torch.sym_min(a.size(0), b.size(0))" in after
    assert [one for one in ast.walk(tree) if isinstance(one, ast.Import) and one.names[0].name == "torch"]
    assert strings(tree) == strings(ast.parse(head))


def strings(tree: ast.AST) -> list[str]:
    return [one.value for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def test_an_import_before_a_decorated_function_stands_above_the_decorator() -> None:
    text = f"@str\n@(lambda x: x)\ndef g():\n    pass\n\n\nif True:\n    from torch import Tensor\n\n\n{SMALLER}"
    assert mended(text).startswith("import torch\n@str\n")


def test_an_import_into_a_function_stays_out_of_its_docstring() -> None:
    documented = BRANCH.replace("(a: Tensor):\n", '(a: Tensor):\n    """Says what.\n    # it does"""\n')
    after = mended("from torch import Tensor\n" + documented, path="torch/_refs/a.py")
    assert f'    # it does"""\n    {NEED}' in after
