#!/usr/bin/env python3
"""Asks clients of all families, at any version, whether they start with a bootstrap. See README.md.

  bootstraps.py DIR CLIENT... [-j N] < rows > rows       adds to `clients` of each row the verdict of each client

Nobody listens where the bootstraps lead: a client that takes one gets no configuration from there, and one that does not says why.
"""
import argparse
import base64
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import alone
import channels
import installs

# What clients say, at any version, that do not take a bootstrap.
REFUSALS = ("failed to create xds-client", "Failed to initialize xDS", "Failed to create XdsClient", "Failed to read xDS bootstrap file",
            "Failed to parse xDS bootstrap", "reading 'clientDefaultListenerResourceNameTemplate'")
DIED = "the process died"
# Seconds for an RPC. A client that has not said in the second what is wrong is up, and waits for its control plane.
PATIENCE = (1, 12)


def words(command, path):
    """What a channel that starts with this bootstrap says of it, or of its first RPC."""
    program = channels.Program(command, {"GRPC_XDS_BOOTSTRAP": path}, subprocess.DEVNULL)
    try:
        opened = program.say({"uri": "xds:///s", "options": []})
        if "error" in opened or opened["client"].startswith("tonic-xds"):  # who reads it when a channel is made
            return "error", opened.get("error", "")
        for seconds in PATIENCE:
            answer = program.say({"pick": {"timeout": seconds}})
            if answer["code"] != "DEADLINE_EXCEEDED":
                break
        return answer["code"], answer.get("details") or ""
    except channels.Died:
        return DIED, ""
    finally:
        program.end()


def verdict(code, said):
    refused = bool(said) if code == "error" else any(refusal in said for refusal in REFUSALS)
    return "DIED" if code == DIED else "REJECT" if refused else "ACCEPT"


def by_channels(directory, client, paths, at_once):
    """The verdict and the words of each bootstrap, of a channel each."""
    command = installs.command(directory, client)
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for code, said in pool.map(lambda path: words(command, path), paths):
            yield verdict(code, said), said


def by_reader(directory, client, paths):
    """The same of the client's own reader, in one process: quicker, and without what a channel makes of it."""
    program = subprocess.Popen(installs.reader(directory, client), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for path in paths:
        program.stdin.write(path + "\n")
        program.stdin.flush()
        said = json.loads(program.stdout.readline())
        yield verdict("error", said.get("error", "")), said.get("error", "")
    program.stdin.close()


def text_of(row):
    return row["bootstrap"].encode("utf-8", "surrogatepass") if "bootstrap" in row else base64.b64decode(row["bootstrap_b64"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("clients", nargs="+", metavar="client")
    parser.add_argument("-j", dest="at_once", type=int, default=1, help="processes at once (1)")
    parser.add_argument("--words", action="store_true", help="keep what the clients say, too")
    parser.add_argument("--readers", action="store_true", help="ask the readers of Java and Node alone, in one process each")
    args = parser.parse_args()
    alone.seclude()
    rows = [json.loads(line) for line in sys.stdin if line.strip()]
    with tempfile.TemporaryDirectory() as place:
        paths = [os.path.join(place, str(number)) for number in range(len(rows))]
        for path, row in zip(paths, rows):
            with open(path, "wb") as out:
                out.write(text_of(row))
        for client in args.clients:
            has_reader = args.readers and installs.parts(client)[0] in installs.READERS
            asked = by_reader(args.directory, client, paths) if has_reader else by_channels(args.directory, client, paths, args.at_once)
            for row, (said, why) in zip(rows, asked):
                row.setdefault("clients", {})[client] = said
                if args.words:
                    row.setdefault("words", {})[client] = why
    sys.stdout.reconfigure(errors="backslashreplace")  # a client may say half a surrogate pair
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    main()
