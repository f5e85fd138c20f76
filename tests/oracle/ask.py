#!/usr/bin/env python3
"""Asks a real gRPC client (grpcio) what it makes of xDS resources. See README.md.

  ask.py worlds [-j N] < worlds.jsonl > rows.jsonl       whole worlds with live backends, N at once
  ask.py resources     < cases.jsonl  > rows.jsonl       single resources

Each line comes back with its answer.
"""
import argparse
import concurrent.futures
import json
import sys

import alone


def write(row):
    print(json.dumps(row, separators=(",", ":"), ensure_ascii=False), flush=True)


def worlds(rows, at_once):
    import world

    def ask(row):
        try:
            return world.ask(row)
        except world.NotAsked as why:
            print(f"{row['id']}: not asked: {why}", file=sys.stderr)

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for row in pool.map(ask, rows):
            if row:
                write(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["worlds", "resources"])
    parser.add_argument("-j", dest="at_once", type=int, default=1, help="worlds at once; their ports must differ")
    args = parser.parse_args()
    alone.seclude()
    rows = [json.loads(line) for line in sys.stdin if line.strip()]
    if args.what == "worlds":
        worlds(rows, args.at_once)
    else:
        import resources
        for row in resources.ask(rows):
            write(row)


if __name__ == "__main__":
    main()
