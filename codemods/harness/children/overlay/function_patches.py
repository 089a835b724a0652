"""Functions of torch outside of the dispatcher, such as autograd formulas, redirected to another library.

In this process only, torch's function begins with a jump to the function of the same mangled name, hence of the same
signature. Inlined calls are not redirected, so the counts show whether a function was reached.
"""

from __future__ import annotations

import ctypes
import importlib
import mmap
import os
import platform
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

FORMULAS = b"_ZN5torch8autograd9generated7details"
"""Prefix of the mangled names of autograd formulas."""
_SLOT, _COUNT = 32, 16
_COUNT_AND_JUMP = bytes.fromhex("f048ff0508000000ff250a0000000000")
"""Code of ``lock inc qword [rip+8]`` and ``jmp [rip+10]``, followed by the count and the address of the jump."""
_JUMP = bytes.fromhex("ff2500000000")
"""Code of ``jmp [rip+0]``, followed by the address."""
_SYMBOLS, _SECTION = 2, 64
SWAPPED = "swapped"


class Detours:
    """Redirection of each function in ``names`` (``mm_mat1_backward``), with all overloads, to the one in ``library``.

    The library must be loaded already.
    """

    def __init__(self, library: str, names: Sequence[str]) -> None:
        self._slots: dict[str, list[int]] = {name: [] for name in names}
        machine = platform.machine()
        self._why = "" if machine == "x86_64" else f"functions can't be sent elsewhere on {machine}"
        if names and not self._why:
            torch: Any = importlib.import_module("torch")
            self._send(library, str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))

    @property
    def states(self) -> dict[str, str]:
        """Return the state of each function: swapped, or the reason why not."""
        missing = self._why or "torch has no function of this name and signature"
        return {name: SWAPPED if slots else missing for name, slots in self._slots.items()}

    def calls(self) -> dict[str, int]:
        """Return the number of calls of each function."""
        return {
            name: sum(ctypes.c_uint64.from_address(slot + _COUNT).value for slot in slots)
            for name, slots in self._slots.items()
        }

    def _send(self, library: str, torch: str) -> None:
        mine, theirs = _functions(library), _functions(torch)
        pairs = [(name, symbol) for symbol in mine.keys() & theirs.keys() if (name := _name(symbol)) in self._slots]
        # Kept until the process exits, since torch jumps there.
        self._page = mmap.mmap(-1, max(1, len(pairs)) * _SLOT, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        slot = ctypes.addressof(ctypes.c_char.from_buffer(self._page))
        for name, symbol in sorted(pairs):
            code = _COUNT_AND_JUMP + struct.pack("<QQ", 0, _base(library) + mine[symbol])
            ctypes.memmove(slot, code, _SLOT)
            _overwrite(_base(torch) + theirs[symbol], _JUMP + struct.pack("<Q", slot))
            self._slots[name].append(slot)
            slot += _SLOT


def _name(symbol: bytes) -> str:
    """Return the name in a mangled name, such as ``mm_mat1_backward``, or "" unless it is a whole plain function."""
    found = re.match(rb"(\d+)", symbol[len(FORMULAS) :])
    if found is None or b"." in symbol:
        return ""
    start = len(FORMULAS) + found.end()
    name, rest = symbol[start : start + int(found[1])], symbol[start + int(found[1]) :]
    return name.decode() if rest.startswith(b"E") else ""


def _functions(path: str) -> Mapping[bytes, int]:
    """Return the formulas that a library defines, by mangled name, as offsets from its load address."""
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        found: dict[bytes, int] = {}
        for entries, strings in _tables(data):
            names = _names_at(data, strings)
            for at in range(*entries, 24):
                if int.from_bytes(data[at : at + 4], "little") in names:
                    number, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", data, at)
                    if section:
                        found[names[number]] = value
        return found


def _tables(data: mmap.mmap) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield each symbol table and its string table, as offsets of the first byte and of the end."""
    first = struct.unpack_from("<Q", data, 40)[0]
    count = struct.unpack_from("<H", data, 60)[0]
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, first + number * _SECTION) for number in range(count)]
    for _, kind, _, _, offset, size, link, *_ in sections:
        if kind == _SYMBOLS:
            _, _, _, _, start, length, *_ = sections[link]
            yield (offset, offset + size), (start, start + length)


def _names_at(data: mmap.mmap, strings: tuple[int, int]) -> Mapping[int, bytes]:
    """Return the names of formulas by their offset in the string table."""
    start, end = strings
    found: dict[int, bytes] = {}
    at = data.find(FORMULAS, start, end)
    while at >= 0:
        behind = data.find(b"\0", at)
        found[at - start] = data[at:behind]
        at = data.find(FORMULAS, behind, end)
    return found


def _base(library: str) -> int:
    """Return the address at which this process has loaded a library. Raises OSError if it is not loaded."""
    real = os.path.realpath(library)
    for line in Path("/proc/self/maps").read_text().splitlines():
        words = line.split(maxsplit=5)
        if len(words) == 6 and words[2] == "00000000" and os.path.realpath(words[5]) == real:
            return int(words[0].partition("-")[0], 16)
    raise OSError(f"{library} is not loaded")


def _overwrite(address: int, code: bytes) -> None:
    """Write ``code`` at an address of this process's own code. Raises OSError if the page can't be made writable."""
    system = ctypes.CDLL(None, use_errno=True)
    first = address & -mmap.PAGESIZE
    length = address + len(code) - first
    everything = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    if system.mprotect(ctypes.c_void_p(first), ctypes.c_size_t(length), everything):
        raise OSError(ctypes.get_errno(), "torch's code can't be written to")
    ctypes.memmove(address, code, len(code))
