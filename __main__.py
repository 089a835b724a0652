"""``python -m symfix``: the command line."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        # `python -m` puts the folder it is started in first: what is looked at may hold a module of any name.
        del sys.path[0]
    from symfix.codemods.system.sigint import install

    install()
    from symfix.codemods.cli import main

    main()
