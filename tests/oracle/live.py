#!/usr/bin/env python3
"""Asks real channels of other clients, at any version. See README.md.

  live.py install DIR CLIENT...                          go@1.62.0, java@1.63.0, node@1.14.1, rust@0.1.0-alpha.4
  live.py record DIR CLIENT [-j N] [--log] < rows > answers
  live.py verdicts DIR CLIENT < cases > answers          single resources, put to the decoders of Go, Java or Rust
  live.py measure DIR CLIENT... [-j N] [--only WHAT]     installs it and prints what differs from the newest that is recorded: WHAT is
                                                         verdicts, common or timelines; --write adds the verdicts to fixtures/clients
  live.py smoke DIR CLIENT...                            20 rows that have no chance in them; exit code 1 if one differs
"""
import argparse
import json
import os
import sys
import traceback

import alone
import installs
import measure
import verdicts

write = lambda answer: print(json.dumps(answer, separators=(",", ":"), ensure_ascii=False), flush=True)


def worker(directory, client, is_loud):
    """Asks about rows one after the other, in a network namespace of its own."""
    alone.seclude()
    import channels
    import world
    family, brought, version = installs.parts(client)
    for line in sys.stdin:
        row = json.loads(line)
        brings = row.get("with", brought)  # what the program of a row brings
        try:
            command = installs.command(directory, f"{family}{brings and '+' + brings}@{version}")
            write(channels.ask(row, family, command, is_loud))
        except world.NotAsked as why:
            write({"id": row["id"], "not_asked": str(why)})
        except Exception:
            write({"id": row["id"], "not_asked": traceback.format_exc()[-2000:]})
    os._exit(0)


def answers(directory, client, rows, at_once=1, is_loud=False):
    """The answers to rows, in their order; what could not be asked is said on standard error."""
    command = [*alone.apart(), sys.executable, os.path.abspath(__file__), "worker", directory, client, *["--log"] * is_loud]
    for answer in alone.asked(command, rows, at_once):
        if "not_asked" in answer:
            print(f"{answer['id']}: not asked: {answer['not_asked']}", file=sys.stderr)
        else:
            yield answer


def lines(source):
    return [json.loads(line) for line in source if line.strip()]


# Rows of `common` whose answers are the same in every run, in Go and in Java.
SMOKE = [f"{family}-dev1-{number}" for family, numbers in {
    "route": (1, 5, 9, 13), "ring": (1, 9, 13), "tree": (1, 5, 9, 13), "retry": (1, 5, 9), "failover": (1, 5), "session": (5, 9),
    "depth": (1, 5)}.items() for number in numbers]


def measured(directory, client, only, at_once, is_written):
    if not installs.is_installed(directory, client):
        installs.install(directory, client)
    if only in (None, "verdicts"):
        measure.verdicts_of(directory, client, is_written)
    for questions in measure.QUESTIONS:
        if only in (None, questions):
            measure.channels_of(client, questions, lambda rows: answers(directory, client, rows, at_once))


def judged(directory, client, cases):
    for case, (verdict, message) in zip(cases, verdicts.ask(directory, client, cases)):
        write({**case, "verdict": verdict, "message": message})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["install", "record", "verdicts", "measure", "smoke", "worker"])
    parser.add_argument("directory")
    parser.add_argument("clients", nargs="+", metavar="client")
    parser.add_argument("-j", dest="at_once", type=int, default=1, help="rows at once, each in a network of its own (1)")
    parser.add_argument("--log", action="store_true", help="let the client log all it can, and keep it")
    parser.add_argument("--only", choices=["verdicts", *measure.QUESTIONS])
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    if args.what == "install":
        for client in args.clients:
            installs.install(args.directory, client)
    elif args.what == "worker":
        worker(args.directory, args.clients[0], args.log)
    elif args.what == "verdicts":
        judged(args.directory, args.clients[0], lines(sys.stdin))
    elif args.what == "measure":
        for client in args.clients:
            measured(args.directory, client, args.only, args.at_once, args.write)
    elif args.what == "smoke":
        ask = lambda client: lambda rows: answers(args.directory, client, rows, args.at_once)
        sys.exit(any([measure.channels_of(client, "common", ask(client), SMOKE) for client in args.clients]))
    else:
        for answer in answers(args.directory, args.clients[0], lines(sys.stdin), args.at_once, args.log):
            write(answer)


if __name__ == "__main__":
    main()
