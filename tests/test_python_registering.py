"""Tests of the registration of a reference in its file, and of the rewrites that a registered reference needs."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from symfix.codemods.engine.registry import Registry, load_language
from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.model.edit import Edit
from symfix.codemods.model.rule import Context, Fix
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.workflows.repair.candidates import CandidateSources
from symfix.codemods.workflows.repair.edited_file import EditedFile
from symfix.codemods.workflows.repair.trial_runner import TrialRunner
from symfix.codemods.workflows.repair.trials import TorchFrame, Trial
from symfix.python.candidates.inferred_size import computed_size
from symfix.python.candidates.inlined_wrappers import unwrapped
from symfix.python.candidates.neutral_amounts import neutral_amounts
from symfix.python.candidates.prim_replacement import replace_prim
from symfix.python.candidates.relayout import laid_out_anew, made_in_format
from symfix.python.candidates.stride_sort import sorted_by_stride
from symfix.python.candidates.symbolic_numbers import symbolic_complex, symbolic_root
from symfix.python.rewrite.registration import newly_registered, registered

INSTALLED = Path(torch.__file__).parent
PATH = INSTALLED / "_refs" / "made_up.py"
KEY = "DispatchKey.CompositeImplicitAutograd"


@pytest.fixture(scope="module")
def context() -> Context:
    return TorchSurroundings().context()


def with_fix(text: str, fixes: list[Fix], context: Context) -> str:
    source = SourceFile(PATH, text.encode())
    wing = Registry().wing(PATH)
    assert wing is not None
    return EditedFile(source, load_language(wing.package), context).take(fixes).now.content.decode()


def after_registration(text: str, operators: str, context: Context) -> str:
    line = text[: text.index("# here\n")].count("\n") + 2
    fixes = list(registered(SourceFile(PATH, text.encode()), context, line, operators.split()))
    return with_fix(text, fixes, context) if fixes else ""


REFERENCE = """import torch
from torch._decomp import register_decomposition

aten = torch._ops.ops.aten


# here
@register_decomposition(aten.twice)
@out_wrapper()
def twice(x):
    return 2 * x
"""


def test_it_stands_below_the_table_and_above_what_wraps_the_function(context: Context) -> None:
    text = after_registration(REFERENCE, "aten.twice.default aten.twice.int", context)
    assert (
        f"""@register_decomposition(aten.twice)
@aten.twice.default.py_impl({KEY})
@aten.twice.int.py_impl({KEY})
@out_wrapper()
def twice"""
        in text
    )
    assert "from torch._C import DispatchKey\nfrom torch._decomp import register_decomposition\n" in text
    assert newly_registered(REFERENCE.encode(), text.encode()) == ("aten.twice.default", "aten.twice.int")
    assert newly_registered(text.encode(), text.encode()) == ()


def test_a_file_has_its_own_words(context: Context) -> None:
    named = "import torch\nDispatchKey = torch._C.DispatchKey\n# here\ndef f(x):\n    return x\n"
    text = after_registration(named, "aten.f.default", context)
    assert f"@torch.ops.aten.f.default.py_impl({KEY})\ndef f(x)" in text
    assert "import DispatchKey" not in text
    assert newly_registered(b"", text.encode()) == ("aten.f.default",)


@pytest.mark.parametrize(
    "text",
    [
        "# here\ndef f(x):\n    return x\n",
        "import torch\nDispatchKey = 3\n# here\ndef f(x):\n    return x\n",
        "import torch\n# here\nf = make(3)\n",
        "import torch\nclass C:\n# here\n    def f(x):\n        return x\n",
    ],
    ids=["no name for the operators", "the key means something else", "made by a factory", "no function of the file"],
)
def test_what_can_not_be_registered_is_left(text: str, context: Context) -> None:
    assert after_registration(text, "aten.f.default", context) == ""


def called(write: Any, text: str, context: Context, name: str = "") -> str:
    """Return the text with the rewrite by ``write`` of the calls of ``name``, or an empty string."""
    from symfix.python.syntax.module import parse

    module = parse(SourceFile(PATH, text.encode()))
    calls = [one for one in module.nodes.calls if name.encode() in module.text(one.func)]
    fixes = [fix for one in calls for fix in write("alternative", module, one, context)]
    return with_fix(text, fixes, context) if fixes else ""


PRIM = "import torch\nimport torch._prims as prims\n\n\ndef f(x, d):\n    return {}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("prims.fft_r2c(x, dim=d[-1:], onesided=True)", "torch._fft_r2c(x, d[-1:], 0, True)"),
        ("prims.conj_physical(x)", "torch._conj_physical(x)"),
        ("prims.svd(x, full_matrices=d)", "torch.linalg.svd(x, full_matrices=d)"),
        ("prims.fft_r2c(x, dim=d)", ""),  # an argument is missing
        ("prims.fft_r2c(*x, dim=d, onesided=True)", ""),
        ("prims.broadcast_in_dim(x, d, d)", "prims._broadcast_in_dim_aten(x, d, d)"),  # this one does more than call
        ("prims.broadcast_in_dim(x, d)", ""),
        ("prims.no_such(x)", ""),
        ("torch.conj_physical(x)", ""),
    ],
)
def test_a_prim_gives_way_to_what_implements_it(before: str, after: str, context: Context) -> None:
    text = called(replace_prim, PRIM.format(before), context)
    assert text == (PRIM.format(after) if after else "")


def test_what_a_prim_gives_way_to_gives_the_same(context: Context) -> None:
    text = called(replace_prim, PRIM.format("prims.fft_r2c(x, dim=d, onesided=True)"), context)
    names: list[dict[str, Any]] = [{}, {}]
    for known, code in zip(names, (PRIM.format("prims.fft_r2c(x, dim=d, onesided=True)"), text), strict=True):
        exec(code, known)
    x = torch.randn(3, 4)
    assert torch.equal(names[0]["f"](x, [1]), names[1]["f"](x, [1]))
    (gradient,) = torch.autograd.grad(names[1]["f"](x.requires_grad_(), [1]).abs().sum(), x)
    assert gradient.shape == x.shape


ORDERS = """import torch


def fitted(x, size, n):
    pad = 0
    if size {} n:
        pad = n - size
    if size {} n:
        x = x[:n]
    return x, pad
"""


@pytest.mark.parametrize(("less", "more"), [("<", ">"), ("<=", ">=")])
def test_known_orders_change_nothing(less: str, more: str, context: Context) -> None:
    from symfix.python.syntax.module import parse

    before = ORDERS.format(less, more)
    module = parse(SourceFile(PATH, before.encode()))
    fixes = [fix for one in module.nodes.ifs for fix in neutral_amounts("alternative", module, one, context)]
    assert len(fixes) == 2 and all(fix.default for fix in fixes)
    after = with_fix(before, fixes, context)
    assert "pad = torch.sym_max(n - size, 0)" in after and "x[:torch.sym_min(size, n)]" in after
    assert after.count("guard_or_true(size") == 2
    names: list[dict[str, Any]] = [{}, {}]
    for known, text in zip(names, (before, after), strict=True):
        exec(text, known)
    for size, n in itertools.product(range(4), repeat=2):
        given = list(range(size))
        assert names[0]["fitted"](given, size, n) == names[1]["fitted"](given, size, n)


@pytest.mark.parametrize(
    "branch",
    [
        "if size < n:\n        return 1\n    else:\n        return n - size",
        "if size < n:\n        return 1",
        "if size == n:\n        return n - size",
        "if size < n < 3:\n        return n - size",
        "if size < n:\n        n = n - size",
    ],
    ids=["two ways", "no amount", "no order", "two orders", "a size gets another value"],
)
def test_an_order_without_amounts_is_left(branch: str, context: Context) -> None:
    from symfix.python.syntax.module import parse

    module = parse(SourceFile(PATH, f"import torch\n\n\ndef f(size, n):\n    {branch}\n    return n\n".encode()))
    (node, *_) = module.nodes.ifs
    assert list(neutral_amounts("alternative", module, node, context)) == []


INFERRED = """import math

import torch


def f(x, k):
    sizes = {}
    return x.reshape(sizes)
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[-1] + list(x.shape[k:])", "[math.prod(x.shape[:k])] + list(x.shape[k:])"),
        ("[-1] + list(x.shape[k:2])", ""),
        ("[-1] + list(k.shape[1:])", ""),
        ("[1] + list(x.shape[k:])", ""),
        ("[-1]", ""),
    ],
)
def test_a_size_to_be_inferred_is_computed(before: str, after: str, context: Context) -> None:
    text = called(computed_size, INFERRED.format(before), context)
    assert text == (INFERRED.format(after) if after else "")
    if text:
        known: dict[str, Any] = {}
        exec(text, known)
        assert known["f"](torch.ones(2, 3, 4), 2).shape == (6, 4)


def test_a_tensor_is_laid_out_by_strides(context: Context) -> None:
    before = """import torch
import torch._prims_common as utils


def f(out, sizes):
    out.resize_({})
    return out
"""
    text = called(laid_out_anew, before.format("sizes, memory_format=torch.contiguous_format"), context)
    assert "    out.as_strided_(sizes, utils.make_contiguous_strides_for(sizes))\n" in text
    known: dict[str, Any] = {}
    exec(text, known)
    expected = torch.empty(4, 3).t().resize_([2, 6], memory_format=torch.contiguous_format)
    assert known["f"](torch.empty(4, 3).t(), [2, 6]).stride() == expected.stride()
    for other in (
        "sizes",
        "sizes, memory_format=torch.preserve_format",
        "[2, 6], memory_format=torch.contiguous_format",
    ):
        assert called(laid_out_anew, before.format(other), context) == ""


EMPTY = """import torch


def f(x, sizes, format):
    return {}
"""


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 1, 4, 5), (1, 3, 1, 1), (0, 3, 4, 4)])
@pytest.mark.parametrize("made", ["x.new_empty(sizes)", "x.new_empty(sizes, dtype=torch.int64)"])
def test_a_tensor_is_made_in_its_format(made: str, shape: tuple[int, ...], context: Context) -> None:
    before = EMPTY.format(f"{made}.to(memory_format=format)")
    text = called(made_in_format, before, context)
    assert ".to(" not in text
    known: dict[str, Any] = {}
    expected: dict[str, Any] = {}
    exec(text, known)
    exec(before, expected)
    for format in (torch.contiguous_format, torch.channels_last):
        now, then = known["f"](torch.ones(1), shape, format), expected["f"](torch.ones(1), shape, format)
        assert (now.shape, now.stride(), now.dtype) == (then.shape, then.stride(), then.dtype)


@pytest.mark.parametrize(
    "other",
    ["x.new_zeros(sizes).to(memory_format=format)", "x.new_empty(sizes).to(x, memory_format=format)", "x.to(format)"],
)
def test_another_conversion_stays(other: str, context: Context) -> None:
    assert called(made_in_format, EMPTY.format(other), context) == ""


SORTED = """import torch
import torch._prims_common as utils


def f(x, dims):
    strides = {}
    dims.sort(key=lambda d: {}, reverse=True)
    return dims
"""


def test_dimensions_are_sorted_as_torch_sorts_strides(context: Context) -> None:
    before = SORTED.format("x.stride()", "strides[d]")
    text = called(sorted_by_stride, before, context, "sort")
    assert "dims.sort(key=_by_stride(strides), reverse=True)" in text
    told = called(sorted_by_stride, before.replace("def f(", "# Of f.\n# Of it too.\ndef f("), context, "sort")
    assert "    return cmp_to_key(compare)\n\n\n# Of f.\n# Of it too.\ndef f(" in told
    assert called(sorted_by_stride, text + before.replace("f(", "g("), context, "sort").count("def _by_stride(") == 1
    names: list[dict[str, Any]] = [{}, {}]
    for known, code in zip(names, (before, text), strict=True):
        exec(code, known)
    for order in itertools.permutations(range(3)):
        for x in (torch.ones(2, 3, 4), torch.ones(1, 3, 1), torch.ones(2, 1, 4).expand(2, 3, 4)):
            given = list(order), x.permute(*order)
            assert names[0]["f"](given[1], list(given[0])) == names[1]["f"](given[1], list(given[0]))
    for strides, key in (("x.shape", "strides[d]"), ("x.stride()", "strides[0]"), ("x.stride()", "d")):
        assert called(sorted_by_stride, SORTED.format(strides, key), context, "sort") == ""


def test_a_root_stays_symbolic(context: Context) -> None:
    before = "import math\n\nimport torch\n\n\ndef f(n):\n    return 1 / {}(n)\n"
    assert called(symbolic_root, before.format("math.sqrt"), context) == before.format("torch.sym_sqrt")
    assert called(symbolic_root, before.format("math.cbrt"), context) == ""


def test_a_symbolic_number_stays_real(context: Context) -> None:
    before = "import torch\n\n\ndef f(x):\n    return {}\n"
    text = called(symbolic_complex, before.format("complex(x)"), context)
    assert text == before.format("x if isinstance(x, torch.SymFloat) else complex(x)")
    inside = called(symbolic_complex, before.format("2 * complex(x)"), context)
    assert inside == before.format("2 * (x if isinstance(x, torch.SymFloat) else complex(x))")
    known: dict[str, Any] = {}
    exec(text, known)
    assert [known["f"](one) for one in (2, 0.5, 1j)] == [2 + 0j, 0.5 + 0j, 1j]
    for other in ("complex(x, 1)", "complex(x + 1)", "torch.complex(x)"):
        assert called(symbolic_complex, before.format(other), context) == ""


WRAPPER = '''import torch


def seeded(op, *args, **kwargs):
    """Seed, then call."""
    with frozen():
        torch.manual_seed(42)
        output = op(*args, **kwargs)
        return {}
'''


def test_a_wrapper_is_left_out_of_what_is_compiled(context: Context) -> None:
    from symfix.python.syntax.module import parse

    def offered(text: str) -> list[Fix]:
        module = parse(SourceFile(PATH, text.encode()))
        (statement,) = [one for one in module.functions[0].node.body if hasattr(one, "items")]
        return list(unwrapped("alternative", module, module.span(statement), context))

    text = with_fix(WRAPPER.format("output"), offered(WRAPPER.format("output")), context)
    assert (
        '''    """Seed, then call."""
    if torch.compiler.is_compiling():
        # Dynamo does not trace `frozen()`.
        return op(*args, **kwargs)
    with frozen():
        torch.manual_seed(42)
'''
        in text
    )
    compile(text, "wrapper", "exec")
    assert offered(WRAPPER.format("output + 1")) == [], "it gives something else"
    assert offered(WRAPPER.format("output").replace("op, *args", "op, first, *args")) == [], "it keeps an argument"
    assert offered(WRAPPER.format("op(*args, **kwargs)")) == [], "it calls twice"


def test_what_could_be_registered_comes_after_the_places_that_asked(context: Context, tmp_path: Path) -> None:
    path = tmp_path / "torch" / "made_up.py"
    path.parent.mkdir()
    path.write_text(REFERENCE)
    asked = TorchFrame(str(path), 11, "twice")
    reference = TorchFrame(str(path), 8, "twice", operators=("aten.twice.default", "aten.twice.int"))
    bench = TrialRunner(None, None, None, CandidateSources(Registry(), lambda _: context))  # type: ignore[arg-type]
    drafts: dict[Path, EditedFile] = {}
    trial = Trial("twice", "failed", "u0 < 3", frames=(reference, *[asked] * 5))
    first, last = bench.sites(trial, drafts)
    assert first.operators == () and last.operators == reference.operators
    both, one = bench.advisors.candidates(drafts[path], last)
    assert both.fixes[0].message.startswith("register `twice` for `aten.twice.default`, `aten.twice.int`")
    assert one.fixes[0].message.startswith("register `twice` for `aten.twice.default`: ")


DECOMPOSITIONS = b"""import torch
import torch._prims_common as utils

DispatchKey = torch._C.DispatchKey  # type: ignore[attr-defined]
aten = torch._ops.ops.aten


def halved(x):
    return x / 2
"""
TRANSLATIONS = {
    name: f"""@aten.{name}.default.py_impl({KEY})
def {name}(x):
    if x.size(0) == 0:
        return math.nan
    return x
"""
    for name in ("first", "second")
}


def offered(name: str, draft: EditedFile, context: Context) -> Fix:
    language = draft.language
    (fix,) = language.translated(draft.source, context, f"aten.{name}.default", TRANSLATIONS[name], ("math", "torch"))
    return draft.adding(fix)


def empty_draft(context: Context) -> EditedFile:
    path = INSTALLED / "_decomp" / "decompositions.py"
    draft = CandidateSources(Registry(), lambda _: context).draft(path, DECOMPOSITIONS)
    assert draft is not None
    return draft


def test_a_translation_is_written_below_the_end_with_what_it_imports(context: Context) -> None:
    draft = empty_draft(context)
    after = draft.take([offered("first", draft, context)]).now.content
    assert after == b"import math\n\n" + DECOMPOSITIONS + b"\n\n" + TRANSLATIONS["first"].encode()
    assert newly_registered(DECOMPOSITIONS, after) == ("aten.first.default",)


def test_a_place_inside_of_a_translation_stays_where_others_come_and_go(context: Context) -> None:
    draft = empty_draft(context)
    first, second = (offered(name, draft, context) for name in ("first", "second"))
    both = draft.take([first, second])
    place = both.origin(both.now.content.rindex(b"x.size"))
    alone = draft.take([second])
    assert alone.now.content[alone.offset(place) :].startswith(
        b"x.size(0) == 0:\n        return math.nan\n    return x\n"
    )
    assert b"first" not in alone.now.content

    at = alone.offset(place)
    inside = replace(second, rule="made_up", edits=(Edit(at, at + len(b"x.size(0) == 0"), b"False"),), needs=())
    mended = alone.take([inside])
    assert b"def second(x):\n    if False:\n" in mended.now.content
    again = mended.take([first])
    assert again.now.content.count(b"if False:") == again.now.content.count(b"x.size(0)") == 1
    assert again.only([first, second]).now.content == both.now.content
    assert again.only([inside]).now.content == DECOMPOSITIONS


@pytest.mark.parametrize("line", [b"import torch._prims_common as utils\n", b"aten = torch._ops.ops.aten\n"])
def test_a_file_without_the_words_of_translations_is_no_place_for_one(line: bytes, context: Context) -> None:
    source = SourceFile(PATH, DECOMPOSITIONS.replace(line, b""))
    draft = empty_draft(context)
    assert list(draft.language.translated(source, context, "aten.first.default", TRANSLATIONS["first"], ())) == []
