"""The program. Garbage collection is off until the screen stands: a start only adds objects."""

import gc
import sys

gc.disable()


def main() -> None:
    """Run the program with the arguments it was started with, and exit."""
    if sys.argv[1:] in ([], ["chat"]):
        from agent_tui.launch import main as run
    else:
        from agent_tui.cli import main as run
    run()


if __name__ == "__main__":
    main()
