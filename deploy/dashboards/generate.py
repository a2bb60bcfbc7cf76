"""Writes the dashboards as Grafana's JSON beside this file.

    python generate.py            writes them
    python generate.py --check    says whether those that are there are what would be written; exit code 1 if not

It needs requirements.txt.
"""

import difflib
import json
import sys
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder

import hands
import overview
import settlement
import store
import table

HERE = Path(__file__).resolve().parent
BOARDS = [overview, hands, settlement, store, table]


def number(board):
    """Gives every panel an id of its own: Grafana would, but links and reviews need lasting ones."""
    ids = iter(range(1, 10_000))
    for panel in board["panels"]:
        panel["id"] = next(ids)
        for inner in panel.get("panels") or []:
            inner["id"] = next(ids)
    return board


def written(module):
    """A dashboard's file name and text."""
    encoded = JSONEncoder(sort_keys=True).encode(module.dashboard().build())
    board = number(json.loads(encoded))
    name = board["uid"].removeprefix("fulcrum-") + ".json"
    return name, json.dumps(board, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def main(arguments):
    made = dict(written(module) for module in BOARDS)
    if arguments == ["--check"]:
        faults = 0
        for name in sorted(made.keys() | {path.name for path in HERE.glob("*.json")}):
            path = HERE / name
            there = path.read_text(encoding="utf-8") if path.exists() else ""
            if there != made.get(name, ""):
                faults += 1
                print(f"{name} is not what generate.py makes; run it, and commit what it writes", file=sys.stderr)
                lines = difflib.unified_diff(there.splitlines(), made.get(name, "").splitlines(), "there", "made", lineterm="")
                print("\n".join(list(lines)[:40]), file=sys.stderr)
        print(f"{len(made)} dashboards checked, {faults} differ")
        return 1 if faults else 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    for name, text in made.items():
        (HERE / name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(json.loads(text)['panels'])} panels and rows")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
