# SPDX-License-Identifier: MIT
"""Counts the single test cases of a Meson test run: tally.py testlog.json STATUS.

Prints failures with their output, the reasons for skipped cases, and last the line
"N passed, N failed, N skipped".  STATUS is Meson's own verdict, which is included.
"""

import json
import re
import sys

CASE = re.compile(r"^(not )?ok\b\s*\d*\s*-?\s*([^#]*?)\s*(?:#\s*(\w+)\s*(.*))?$")
MESON_FAILED = {"FAIL", "ERROR", "TIMEOUT", "INTERRUPT", "UNEXPECTEDPASS"}


def read_runs(path):
    with open(path, encoding="utf-8") as log:
        return [json.loads(line) for line in log if line.strip()]


def count_cases(run):
    """Returns the run's TAP results as (passed, failed names, {skipped name: reason})."""
    passed, failed, skipped = 0, [], {}
    for line in (run.get("stdout") or "").splitlines():
        match = CASE.match(line.strip())
        if not match:
            continue
        bad, name, directive, reason = match.groups()
        directive = (directive or "").upper()
        if directive.startswith("SKIP"):
            skipped[name or run["name"]] = reason
        elif bad and directive != "TODO":
            failed.append(name)
        else:
            passed += 1
    return passed, failed, skipped


def report_failure(run, failed):
    print(f"--- FAILED {run['name']}: {', '.join(failed)} ({run['result']})")
    for stream in ("stdout", "stderr"):
        lines = (run.get(stream) or "").splitlines()
        shown = [line for line in lines if not line.startswith(("ok ", "# Start", "# End"))]
        print("\n".join(shown[-40:]))


def main(path, status):
    total_passed, total_failed, reasons = 0, 0, []
    try:
        runs = read_runs(path)
    except OSError as error:
        print(f"no test ran: {error}")
        runs, total_failed = [], 1
    for run in runs:
        passed, failed, skipped = count_cases(run)
        if not (passed or failed or skipped):  # a test that does not print TAP
            passed = int(run["result"] == "OK")
            if run["result"] == "SKIP":
                skipped[run["name"]] = "whole test"
        if run["result"] in MESON_FAILED and not failed:
            failed.append("whole test")  # crashed, timed out or violated its plan
        if failed:
            report_failure(run, failed)
        total_passed += passed
        total_failed += len(failed)
        reasons += [f"{name}: {reason}" for name, reason in skipped.items()]
    for reason in reasons:
        print(f"skipped {reason}")
    if status != 0 and total_failed == 0:
        print(f"meson test ended with status {status}")
        total_failed = 1
    print(f"{total_passed} passed, {total_failed} failed, {len(reasons)} skipped")
    return 1 if total_failed or total_passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
