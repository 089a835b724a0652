"""Child process that captures calls of operators, references, modules and distributions by torch's tracers."""

from __future__ import annotations

import importlib
import itertools
import json
import logging
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from symfix.codemods.harness.children.overlay.changed_torch import overlay

from .direct import direct

FAKED = ("make_fx", "export")
IMPORT = "import"
"""Pseudo-tracer of a module. At the import, TorchScript compiles the functions that the module passes to it."""
TRACERS = ("compile", "compile static", "compile with breaks", "compile unbacked", "export", "strict export", "make_fx")
_DRAWN, _SAMPLES = 12, 2
_SECONDS = 120

Call = tuple[str, Callable[[], tuple[Any, Any, Any]], tuple[str, ...]]
"""Name of a call, a function that makes a function and its arguments, and the tracers."""


class Overtime(Exception):
    """Error for a call that exceeds its time limit."""


def main(request: str) -> None:
    asked: dict[str, Any] = json.loads(Path(request).read_bytes())
    overlay(asked["modules"])
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGALRM, _overtime)
    import torch

    torch.set_num_threads(1)
    with Path(asked["report"]).open("a") as report:
        for name, made, tracers in calls(asked["operators"], asked["every"], asked["also"], asked["imports"]):
            if name in asked["done"] or (asked["only"] and name not in asked["only"]):
                continue
            _say(report, {"call": name})
            torch.manual_seed(0)
            _say(report, {"call": name, "captures": _captured(made, tracers)})


def _captured(made: Callable[[], tuple[Any, Any, Any]], tracers: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the captures of a call. If it can't be made, every tracer gets that error."""
    from symfix.codemods.harness.children.recorders.captures import Capture, capture, describe

    def alike(error: str) -> dict[str, Capture]:
        return {tracer: Capture(error=error, breaks=0, guards=[], specialized=0, deviation="") for tracer in tracers}

    signal.alarm(_SECONDS)
    try:
        function, args, kwargs = made()
        return alike("") if tracers == (IMPORT,) else capture(function, args, kwargs, tracers)
    except Exception as error:
        return alike(describe(error))
    finally:
        signal.alarm(0)


def _say(report: Any, line: Mapping[str, Any]) -> None:
    report.write(json.dumps(line) + "\n")
    report.flush()


def _overtime(*_: object) -> None:
    raise Overtime(f"more than {_SECONDS} s")


def calls(operators: list[str], every: int, also: list[str], imports: list[str]) -> Iterator[Call]:
    """Yield the calls of some operators and their references, of one of ``every`` others, and those in ``also``."""
    for name in imports:
        yield f"imports:{name}", lambda name=name: (importlib.import_module(name), (), {}), (IMPORT,)  # type: ignore[misc]
    named = set(also)
    for chosen, call in candidates(operators, every):
        if chosen or call[0] in named:
            yield call


def candidates(operators: list[str], every: int) -> Iterator[tuple[bool, Call]]:
    """Yield every call, and whether it is chosen by its operator or drawn."""
    from symfix.codemods.harness.children.recorders.captures import TRACERS as ALL
    from torch.testing._internal.common_methods_invocations import op_db, python_ref_db
    from torch.testing._internal.common_modules import module_db

    for kind, tracers, database in (("operators", TRACERS, op_db), ("references", FAKED, python_ref_db)):
        for number, info in enumerate(database):
            wanted = {info.name, getattr(info, "torch_opinfo_name", None)} & set(operators)
            for call in _samples(kind, info, tracers):
                yield bool(wanted) or _drawn(number, every), call
    for number, module in enumerate(module_db):
        call = f"modules:{module.name}", lambda module=module: _module(module), TRACERS  # type: ignore[misc]
        yield _drawn(number, every), call
    for call in (*_distributions(), *direct(FAKED, tuple(ALL))):
        yield True, call


def _drawn(number: int, every: int) -> bool:
    return every > 0 and number % every == 0


def _samples(kind: str, info: Any, tracers: tuple[str, ...]) -> Iterator[Call]:
    import torch

    if torch.float32 not in info.supported_dtypes("cpu"):
        return
    name = ".".join(filter(None, (info.name, info.variant_test_name)))
    for number in range(_SAMPLES):
        yield f"{kind}:{name}[{number}]", lambda number=number: _operator(info, number), tracers  # type: ignore[misc]


def _operator(info: Any, number: int) -> tuple[Any, Any, Any]:
    """Build the sample with that number, in descending order of dimensions of two or more."""
    import torch
    from torch.utils import _pytree as pytree

    def dynamic(sample: Any) -> int:
        leaves = pytree.tree_leaves((sample.input, sample.args, sample.kwargs))
        return sum(size > 1 for leaf in leaves if isinstance(leaf, torch.Tensor) for size in leaf.shape)

    samples = list(itertools.islice(info.sample_inputs("cpu", torch.float32, requires_grad=False), _DRAWN))
    sample = sorted(samples, key=dynamic, reverse=True)[number]
    return _through(info.op), (sample.input, *sample.args), sample.kwargs


def _through(function: Any) -> Any:
    """Wrap a function, since dynamo refuses some functions because of their module."""

    def called(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return called


def _module(info: Any) -> tuple[Any, Any, Any]:
    import torch

    inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=False)
    drawn = next(one for one in inputs if one.forward_input is not None)
    module = info.module_cls(*drawn.constructor_input.args, **drawn.constructor_input.kwargs).eval()
    return module, drawn.forward_input.args, drawn.forward_input.kwargs


def _distributions() -> Iterator[Call]:
    import torch.distributions as distributions

    for name, parameters in _parameters().items():
        for method in ("log_prob", "entropy", "sample"):
            made = getattr(distributions, name)
            yield (
                f"distributions:{name}.{method}",
                lambda made=made, parameters=parameters, method=method: (  # type: ignore[misc]
                    _distribution(made, parameters, method)
                ),
                TRACERS,
            )


def _distribution(made: Any, parameters: Mapping[str, Any], method: str) -> tuple[Any, Any, Any]:
    plain = made(**parameters, validate_args=False)
    method = "rsample" if method == "sample" and plain.has_rsample else method
    given = (plain.sample(),) if method == "log_prob" else ()

    def called(given: Any, parameters: Any) -> Any:
        return getattr(made(**parameters, validate_args=False), method)(*given)

    return called, (given, dict(parameters)), {}


def _parameters() -> dict[str, dict[str, Any]]:
    """Return small parameters of each distribution."""
    import torch

    one, other, rows = torch.tensor([0.5, 0.3, 0.7]), torch.tensor([1.5, 2.0, 3.0]), torch.rand(3, 4) + 0.1
    both = {"loc": one, "scale": other}
    normal = torch.distributions.Normal
    return {
        **dict.fromkeys(("Cauchy", "Gumbel", "Laplace", "LogNormal", "Normal"), both),
        **{key: {"probs": one} for key in ("Bernoulli", "ContinuousBernoulli", "Geometric")},
        **{key: {"probs": rows} for key in ("Categorical", "OneHotCategorical", "OneHotCategoricalStraightThrough")},
        **{key: {"scale": other} for key in ("HalfCauchy", "HalfNormal")},
        **{key: {"rate": other} for key in ("Exponential", "Poisson")},
        **{key: {"concentration1": one, "concentration0": other} for key in ("Beta", "Kumaraswamy")},
        **{key: {"concentration": one, "rate": other} for key in ("Gamma", "InverseGamma")},
        **{key: {"total_count": 5, "probs": one} for key in ("Binomial", "NegativeBinomial")},
        "Chi2": {"df": other},
        "Dirichlet": {"concentration": rows},
        "FisherSnedecor": {"df1": one, "df2": other + 4},
        "GeneralizedPareto": {**both, "concentration": one / 2},
        "LKJCholesky": {"dim": 3, "concentration": other},
        "LogisticNormal": {"loc": rows, "scale": rows},
        "LowRankMultivariateNormal": {"loc": rows, "cov_factor": torch.rand(4, 2), "cov_diag": rows[0]},
        "Multinomial": {"total_count": 5, "probs": rows},
        "MultivariateNormal": {"loc": rows, "covariance_matrix": torch.eye(4) + 0.1},
        "Pareto": {"scale": other, "alpha": other},
        "RelaxedBernoulli": {"temperature": torch.tensor(0.7), "probs": one},
        "RelaxedOneHotCategorical": {"temperature": torch.tensor(0.7), "probs": rows},
        "StudentT": {"df": other + 2, **both},
        "Uniform": {"low": one, "high": other},
        "VonMises": {"loc": one, "concentration": other},
        "Weibull": {"scale": one, "concentration": other},
        "Wishart": {"df": torch.tensor(5.0), "covariance_matrix": torch.eye(3) + 0.1},
        "Independent": {"base_distribution": normal(rows, rows), "reinterpreted_batch_ndims": 1},
    }


if __name__ == "__main__":
    main(sys.argv[1])
