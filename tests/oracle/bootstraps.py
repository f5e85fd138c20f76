#!/usr/bin/env python3
"""Asks channels of Go and Java, at any version, whether they start with a bootstrap. See README.md.

  bootstraps.py DIR CLIENT... [-j N] < rows > rows       adds to `clients` of each row the verdict of each client

Nobody listens where the bootstraps lead: a client that takes one gets no configuration from there, and one that does not says why.
"""
import argparse
import concurrent.futures
import json
import subprocess
import sys

import alone
import channels
import installs

# What clients say, at any version, that do not take a bootstrap.
REFUSALS = ("failed to create xds-client", "Failed to initialize xDS")
DIED = "the process died"


def words(directory, client, text):
    """What a channel that starts with this bootstrap says of it, or of its first RPC."""
    program = channels.Program(installs.command(directory, client), {"GRPC_XDS_BOOTSTRAP_CONFIG": text}, subprocess.DEVNULL)
    try:
        opened = program.say({"uri": "xds:///s", "options": []})
        return opened.get("error") or program.say({"pick": {"timeout": 1}}).get("details", "")
    except channels.Died:
        return DIED
    finally:
        program.end()


def verdict(said):
    return "DIED" if said == DIED else "REJECT" if any(refusal in said for refusal in REFUSALS) else "ACCEPT"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("clients", nargs="+", metavar="client")
    parser.add_argument("-j", dest="at_once", type=int, default=1, help="processes at once (1)")
    parser.add_argument("--words", action="store_true", help="keep what the clients say, too")
    args = parser.parse_args()
    alone.seclude()
    rows = [json.loads(line) for line in sys.stdin if line.strip()]
    with concurrent.futures.ThreadPoolExecutor(args.at_once) as pool:
        for client in args.clients:
            said = pool.map(lambda row: words(args.directory, client, row["bootstrap"]), rows)
            for row, says in zip(rows, said):
                row.setdefault("clients", {})[client] = verdict(says)
                if args.words:
                    row.setdefault("words", {})[client] = says
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    main()
