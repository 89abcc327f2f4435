"""`python -m benchmarks [NAME…] [--quick]`: all measurements, or those that are named."""

from __future__ import annotations

import argparse
import os
import platform
import time
from importlib import import_module

from benchmarks.report import Measure, Target, calibration, targets_table

NAMES = (
    "start",
    "engine",
    "session",
    "decoders",
    "requests",
    "rendering",
    "stream",
    "echo",
    "tools",
    "large",
    "memory",
    "disk",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"no measurement {sorted(unknown)[0]!r}; there are {', '.join(NAMES)}")
    load = os.getloadavg()[0]
    print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()},", end=" ")
    print(f"{os.cpu_count()} cores, load {load:.1f};", end=" ")
    print(f"ten million additions take {calibration():.2f} s of CPU\n", flush=True)
    targets: list[Target] = []
    for name in options.names or NAMES:
        measure: Measure = import_module(f"benchmarks.{name}").measure
        began = time.monotonic()
        report = measure(options.quick)
        for table in report.tables:
            print(table, end="\n\n")
        print(f"({name}: {time.monotonic() - began:.0f} s)\n", flush=True)
        targets += report.targets
    if targets:
        print(targets_table(targets))


if __name__ == "__main__":
    main()
