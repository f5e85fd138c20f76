#!/usr/bin/env python3
"""What servers say, verbatim, for `xdsctl explain`: server_words.py ROWS.gz [ANSWERS WITH LOGS...] > lines.jsonl. See README.md.

Each line of output is {"client", "where", "words", "row"}: the first row in which a client said so. `where` is `mode` (the serving mode
callback, or the log of C-core), `status` (of an RPC), `goaway`, `handshake` (what the other side sees) or `log`.
"""
import gzip
import json
import re
import sys
import tempfile

# Lines of logs that are about who is let in, and what they begin with besides the words: time, process, place.
TOLD = re.compile(r"handshake|filter chain|serving|denied|unauthorized|reject|no match|certificate |unloaded credentials|RouteConfiguration error|draining|fatal|Check failed",
                  re.IGNORECASE)
FAULT = 75  # letters by which words about a resource are told apart; what follows is its fault, which other fixtures have
# What tells nothing: whole resources and bootstraps.
NOT_TOLD = re.compile(r"^\W|Received LDS update|Populating |_file|[{}]{2}|xDS watch|processing resource")
HEAD = re.compile(r"^(?:[IWEFD]\d{4} [\d:.]+ +\d+ [\w.]+:\d+\] |\d{4}/\d\d/\d\d [\d:]+ |[DE] \S+ \| v\S+ \d+ \| |[A-Z][a-z]{2} \d\d, \d{4} [\d:]+ [AP]M )")


def steady(words):
    """What differs from run to run stands for itself: ports, pointers, numbers of objects."""
    words = re.sub(r"(127\.\d+\.\d+\.\d+|\[::1?\]|0\.0\.0\.0|::1?):\d+", r"\1:PORT", words)
    words = re.sub(r"0x[0-9a-f]{5,}", "0xADDRESS", words)
    words = re.sub(re.escape(tempfile.gettempdir()) + r"/tmp\w+", "/FOLDER", words)
    words = re.sub(r"#\d+", "#N", words)
    return re.sub(r"^\(\d+\)|(?<=\| )\(\d+\)", "(N)", words)


def said(client, answer):
    for mode, words in answer.get("modes", []):
        yield "mode", words
    for step in answer.get("steps", []):
        for mode, words in step.get("modes", []):
            yield "mode", words
        for each in step.get("all", [step]):
            if each.get("code", "OK") != "OK":
                yield "status", f"{each['code']}: {each['details']}"
            if "handshake" in each:
                yield "handshake", each["details"]
        if "goaway" in step:
            yield "goaway", step["words"]


def main():
    seen, told = {}, set()
    with gzip.open(sys.argv[1], "rt") as text:
        for row in map(json.loads, text):
            for client, answer in row["answers"].items():
                for where, words in said(client, answer):
                    words, begins = steady(words), (client, where, steady(words)[:FAULT])
                    if words and (where != "mode" or begins not in told):
                        told.add(begins)
                        seen.setdefault((client, where, words), row["id"])
    for path in sys.argv[2:]:
        for answer in map(json.loads, open(path)):
            for line in answer.get("log", "").splitlines():
                line = HEAD.sub("", line)
                if TOLD.search(line) and not NOT_TOLD.search(line) and len(line) < 600:
                    seen.setdefault((answer["client"], "log", steady(line)), answer["id"])
    for (client, where, words), id in sorted(seen.items()):
        print(json.dumps({"client": client, "where": where, "words": words, "row": id}, ensure_ascii=False))


if __name__ == "__main__":
    main()
