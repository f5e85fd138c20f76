#!/usr/bin/env python3
"""Asks real channels of other clients, at any version. See README.md.

  live.py install DIR CLIENT...                          go@1.62.0, java@1.63.0, node@1.14.1, rust@0.1.0-alpha.4
  live.py record DIR CLIENT [-j N] [--log] < rows > answers
"""
import argparse
import concurrent.futures
import json
import os
import queue
import subprocess
import sys
import traceback

import alone
import installs

write = lambda answer: print(json.dumps(answer, separators=(",", ":"), ensure_ascii=False), flush=True)


def worker(directory, client, is_loud):
    """Asks about rows one after the other, in a network namespace of its own."""
    alone.seclude()
    import channels
    import world
    family, command = installs.parts(client)[0], installs.command(directory, client)
    for line in sys.stdin:
        row = json.loads(line)
        try:
            write(channels.ask(row, family, command, is_loud))
        except world.NotAsked as why:
            write({"id": row["id"], "not_asked": str(why)})
        except Exception:
            write({"id": row["id"], "not_asked": traceback.format_exc()[-2000:]})
    os._exit(0)


def answers(directory, client, rows, at_once=1, is_loud=False):
    """The answers to rows, in their order; what could not be asked is said on standard error."""
    command = [*alone.apart(), sys.executable, os.path.abspath(__file__), "worker", directory, client, *["--log"] * is_loud]
    free = queue.Queue()
    for _ in range(at_once):
        free.put(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))

    def ask(row):
        process = free.get()
        process.stdin.write(json.dumps(row) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        free.put(process)
        return json.loads(line)

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for answer in pool.map(ask, rows):
            if "not_asked" in answer:
                print(f"{answer['id']}: not asked: {answer['not_asked']}", file=sys.stderr)
            else:
                yield answer
    while not free.empty():
        free.get().stdin.close()


def lines(source):
    return [json.loads(line) for line in source if line.strip()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["install", "record", "worker"])
    parser.add_argument("directory")
    parser.add_argument("clients", nargs="+", metavar="client")
    parser.add_argument("-j", dest="at_once", type=int, default=1, help="rows at once, each in a network of its own (1)")
    parser.add_argument("--log", action="store_true", help="let the client log all it can, and keep it")
    args = parser.parse_args()
    if args.what == "install":
        for client in args.clients:
            installs.install(args.directory, client)
    elif args.what == "worker":
        worker(args.directory, args.clients[0], args.log)
    else:
        for answer in answers(args.directory, args.clients[0], lines(sys.stdin), args.at_once, args.log):
            write(answer)


if __name__ == "__main__":
    main()
