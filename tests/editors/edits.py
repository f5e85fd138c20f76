"""A client of the Language Server Protocol: random edits of each fixture, after which the server is as one that is started then.

    edits.py XDSCTL DIRECTORY EDITS

No request may be answered with a fault of the server's own, none may take longer than ten seconds, and none is answered for a text that
is no longer there: what is asked right behind an edit is answered as when the findings of that edit are there, and what is asked right
before one is refused or was answered before it was read. A request that is cancelled is answered once.
"""

import json
import os
import pathlib
import queue
import random
import shutil
import subprocess
import sys
import threading

METHODS = [
    "hover", "completion", "definition", "references", "prepareRename", "rename", "documentSymbol", "foldingRange",
    "selectionRange", "codeAction", "codeLens",
]  # fmt: skip
WRITTEN = ["x", "\n", " ", ": ", "- ", '"', "{", "}", "name: a\n", "\U0001f600", "# xdsctl: ignore[all] x\n", "\t"]
SECONDS = 10
MODIFIED, CANCELLED, FAILED = -32801, -32800, -32803


class Server:
    """A server, and what it has said."""

    def __init__(self, xdsctl, project):
        self.process = subprocess.Popen([xdsctl, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.said = queue.Queue()
        self.published = {}
        self.answered = {}
        self.number = 0
        threading.Thread(target=self.listen, daemon=True).start()
        folder = {"uri": project.as_uri(), "name": "x"}
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}, "workspaceFolders": [folder]})
        self.tell("initialized", {})

    def listen(self):
        while True:
            length = 0
            while (line := self.process.stdout.readline().strip()) != b"":
                name, value = line.split(b": ")
                length = int(value) if name == b"Content-Length" else length
            text = self.process.stdout.read(length)
            if not text:
                self.said.put(None)
                return
            self.said.put(json.loads(text))

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def next(self):
        message = self.said.get(timeout=SECONDS)
        assert message is not None, f"the server has ended: {self.process.wait()}"
        if "id" in message and "method" not in message:
            assert message["id"] not in self.answered, f"{message['id']} is answered twice"
            self.answered[message["id"]] = (message.get("result"), message.get("error"))
        if message.get("method") == "textDocument/publishDiagnostics":
            params = message["params"]
            self.published[params["uri"]] = (params.get("version"), params["diagnostics"])
        return message

    def answer(self, number):
        while number not in self.answered:
            self.next()
        return self.answered[number]

    def request(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        return self.number

    def ask(self, method, params):
        return self.answer(self.request(method, params))

    def findings(self, uri, version):
        while self.published.get(uri, (None, None))[0] != version:
            self.next()
        return self.published[uri][1]

    def open(self, uri, text):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "yaml", "version": 1, "text": text}})

    def ask_all(self, uri, line, character):
        place = {"line": line, "character": character}
        params = {
            "textDocument": {"uri": uri}, "position": place, "positions": [place], "newName": "x",
            "range": {"start": place, "end": place}, "context": {"diagnostics": [], "includeDeclaration": True, "triggerKind": 1},
        }  # fmt: skip
        answers = [self.ask(f"textDocument/{method}", params) for method in METHODS]
        for method, (_, error) in zip(METHODS, answers):
            assert error is None or error["code"] == FAILED, (method, error)
        return answers

    def change(self, uri, version, change):
        self.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]})

    def overtaken(self, uri, version, change):
        """An edit between two requests, one of which is cancelled: what is answered is the text after the edit."""
        params = {"textDocument": {"uri": uri}, "positions": [{"line": 0, "character": 0}]}
        names = ["documentSymbol", "foldingRange", "codeLens"]
        before = [self.request(f"textDocument/{name}", params) for name in names]
        self.change(uri, version, change)
        cancelled = self.request("textDocument/foldingRange", params)
        self.tell("$/cancelRequest", {"id": cancelled})
        behind = [self.request(f"textDocument/{name}", params) for name in names]
        refused = 0
        for number in before:
            _, error = self.answer(number)
            assert error is None or error["code"] == MODIFIED, error
            refused += error is not None
        _, error = self.answer(cancelled)
        assert error is None or error["code"] == CANCELLED, error
        answers = [self.answer(number) for number in behind]
        self.findings(uri, version)
        assert [self.ask(f"textDocument/{name}", params) for name in names] == answers, "an answer for another text"
        return refused

    def end(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        assert self.process.wait(SECONDS) == 0


def place(text, at):
    before = text[:at]
    line = before.rsplit("\n", 1)[-1]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


def edit(text, chance):
    """What is taken out, and what is written there."""
    start = chance.randrange(len(text) + 1)
    line_end = lambda at: text.find("\n", at) + 1 or len(text)  # noqa: E731
    kind = chance.randrange(4)
    if kind == 0:
        return text.rfind("\n", 0, start) + 1, line_end(start), ""
    if kind == 1:
        return start, min(start + chance.randrange(20), len(text)), ""
    if kind == 2:
        other = chance.randrange(len(text) + 1)
        return start, start, text[other : line_end(other)]
    return start, start, chance.choice(WRITTEN)


def play(xdsctl, file, count, seed):
    chance = random.Random(seed)
    text = original = file.read_text()
    uri = file.as_uri()
    server = Server(xdsctl, file.parent)
    server.open(uri, text)
    refused = 0
    for version in range(2, count + 2):
        start, end, new = edit(text, chance)
        change = {"range": {"start": place(text, start), "end": place(text, end)}, "text": new}
        text = text[:start] + new + text[end:]
        if len(text) > 4 * len(original) + 1000:
            text = text[: len(original)]
            change = {"text": text}
        if chance.randrange(25) == 0:
            refused += server.overtaken(uri, version, change)
            continue
        server.change(uri, version, change)
        if chance.randrange(25) == 0:
            server.ask_all(uri, chance.randrange(text.count("\n") + 1), chance.randrange(40))
    findings = server.findings(uri, count + 1)
    at = (chance.randrange(text.count("\n") + 1), chance.randrange(40))
    answers = server.ask_all(uri, *at)
    fresh = Server(xdsctl, file.parent)
    fresh.open(uri, text)
    assert fresh.findings(uri, 1) == findings, (file, seed)
    assert fresh.ask_all(uri, *at) == answers, (file, seed, at)
    fresh.end()
    server.end()
    return refused


def main():
    xdsctl, work, count = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), int(sys.argv[3])
    seed = int(os.environ.get("XDSCTL_ATTACK_SEED", "1"))
    fixtures = pathlib.Path(__file__).parent.parent.parent / "fixtures"
    folders = ["conformance", "dumps", "examples", "policies", "router_check", "suites", "tree"]
    files = sorted(file for folder in folders for file in (fixtures / folder).rglob("*"))
    # Every other project has rules of its own.
    policies = (fixtures / "policies" / "clusters.toml").read_text()
    played = refused = 0
    for file in files:
        if file.suffix not in [".yaml", ".yml", ".json", ".textproto", ".toml"] or b"\r" in file.read_bytes():
            continue
        project = work / "edits"
        shutil.rmtree(project, ignore_errors=True)
        project.mkdir(parents=True)
        (project / "xdsctl.toml").write_text(policies if played % 2 else "")
        # Policies are settings.
        copy = project / ("xdsctl.toml" if file.suffix == ".toml" else file.name)
        shutil.copy(file, copy)
        refused += play(xdsctl, copy, count, seed + played)
        played += 1
    assert played > 80, played
    assert refused > 0, "no edit has overtaken a request"
    print(f"{played} fixtures, {count} edits each; {refused} requests were overtaken by an edit")


main()
