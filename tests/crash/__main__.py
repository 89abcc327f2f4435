"""`python -m tests.crash [KILLS] [SEED]`: kill the program so often and say what was lost."""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from tests.crash.life import Life

KILLS_IN_A_LIFE = 15


def main() -> int:
    """Returns 1 if anything was lost."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    dice = random.Random(seed)
    kills, losses = 0, 0
    while kills < wanted:
        with tempfile.TemporaryDirectory() as home:
            life = Life(Path(home), dice)
            for _ in range(min(KILLS_IN_A_LIFE, wanted - kills)):
                if dice.random() < 0.7:
                    life.die_in_the_chat()
                else:
                    life.die_without_a_screen()
            life.finish()
        kills += life.kills
        losses += len(life.losses)
        for loss in life.losses:
            print("LOSS", loss, flush=True)
        print(
            f"{kills} kills, {losses} losses ({life.requests} requests, {life.texts} texts, "
            f"{life.summaries} summaries)",
            flush=True,
        )
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(main())
