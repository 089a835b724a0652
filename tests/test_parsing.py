"""Tests of Python's parser with several threads."""

from __future__ import annotations

import gc
import multiprocessing
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from symfix.codemods.system.python_parser import parse_module

TOP = Path(__file__).parents[1]


class Finalized:
    """Reference cycle that runs code on collection, so that another thread may continue meanwhile."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        for _ in range(50):
            pass


@pytest.fixture
def restless() -> Iterator[None]:
    threshold, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(1)
    sys.setswitchinterval(1e-6)
    yield
    gc.set_threshold(*threshold)
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("restless")
def test_threads_parse_beside_each_other() -> None:
    text = Path(__file__).read_text() * 4

    def parse(_: int) -> int:
        Finalized()
        return len(parse_module(text).body)

    with ThreadPoolExecutor(4) as pool:
        assert len({*pool.map(parse, range(60))}) == 1


def test_a_process_that_is_forked_while_a_thread_parses_can_parse() -> None:
    text = Path(__file__).read_text() * 40
    over = threading.Event()

    def parse() -> None:
        while not over.is_set():
            parse_module(text)

    thread = threading.Thread(target=parse, daemon=True)
    thread.start()
    try:
        for _ in range(20):
            child = multiprocessing.get_context("fork").Process(target=parse_module, args=("1",))
            child.start()
            child.join(20)
            waits = child.is_alive()
            child.kill()
            assert not waits, "for a thread that it has not"
            assert child.exitcode == 0
    finally:
        over.set()
        thread.join()


def test_nobody_else_calls_the_parser() -> None:
    """Check all but the children, which have one thread and no symfix."""
    folders = ("codemods", "cpp", "python", "schemas")
    found = [path for folder in folders for path in (TOP / folder).rglob("*.py") if "children" not in path.parts]
    calling = {path.name for path in found if "ast.parse(" in path.read_text()}
    assert calling == {"python_parser.py", "opcheck_script.py"}, "the latter in the text of a script"
