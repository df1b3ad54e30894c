"""`a2a-fn` and `python -m a2a_fn`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; without the extra `[cli]`, say how to get it."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ModuleNotFoundError as e:
        sys.exit(f"a2a-fn: {e.name} is not installed: pip install 'a2a-fn[cli]'")
    from a2a_fn.cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
