"""The program. Garbage collection is off until the screen stands: a start only adds objects."""

import gc

gc.disable()

from agent_tui.cli import main  # noqa: E402 - collection is off before anything is imported

if __name__ == "__main__":
    main()
