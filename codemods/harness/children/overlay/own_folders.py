"""Folders whose frames are not the user's: those of torch and of the children."""

from __future__ import annotations

import os
from pathlib import Path

import torch

OWN_FOLDERS = tuple(str(folder) + os.sep for folder in (Path(torch.__file__).parent, Path(__file__).parents[1]))
"""Prefixes of file names, as ``str.startswith`` takes them."""
