"""``python -m masim`` is the command line."""

from __future__ import annotations

from masim.cli.main import main

if __name__ == "__main__":
    main()
