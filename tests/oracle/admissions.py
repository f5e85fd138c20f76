#!/usr/bin/env python3
"""Asks real xDS servers whom they let in. See README.md.

  admissions.py install DIR [CLIENT...]               builds the caller, and the server of each client that `live.py` or `others.py`
                                                      has installed: cpp@1.85.1, go@1.85.0, java@1.85.1, node@1.14.1
  admissions.py record DIR CLIENT [-j N] [--log] < rows > answers
  admissions.py keep FILE ROWS ANSWERS...             puts rows with their answers into FILE (gzip), and says what is now answered otherwise
"""
import argparse
import gzip
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import alone
import installs
from server_rows import build

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "..", "fixtures", "servers")
TEMPLATE = "grpc/server?address=%s"
KEPT = 60  # rows that one process plays
# The log of C-core has its mode, which its Python API does not tell. (With this trace it dies of `authenticated: {}`.)
ALWAYS = {"cpp": {"GRPC_VERBOSITY": "INFO"}}
LOUD = {"cpp": {"GRPC_TRACE": "xds_server_config_fetcher"},
        "go": {"GRPC_GO_LOG_SEVERITY_LEVEL": "info", "GRPC_GO_LOG_VERBOSITY_LEVEL": "2"},
        "java": {"VERBOSE": "1"}, "node": {"GRPC_VERBOSITY": "DEBUG", "GRPC_TRACE": "xds_server,server,rbac"}}
PATIENCE = 30  # seconds until a server has told its first mode; a resource that is not there is missed after 15 s
# A program that starts is slow at first, and so is TLS of Java: it plays this much before it is asked.
COLD = {"java"}
# What a client with more words in its name has: node+rbac@1.14.1.
SWITCHES = {"rbac": {"GRPC_XDS_EXPERIMENTAL_RBAC": "true"}, "audit": {"GRPC_EXPERIMENTAL_XDS_RBAC_AUDIT_LOGGING": "true"}}
WARM = build.row("warm", "what a server plays before it is asked", build.listener([build.chain(tls=build.mtls(), filters=[build.rbac()])]),
                 build.connect("a", tls=build.shows("client-uri")), build.call("a"), build.call("a", method="/none.Such/Method"),
                 build.connect("b"))


def caller(directory):
    where = os.path.join(os.path.abspath(directory), "caller")
    if not os.path.exists(os.path.join(where, "caller")):
        shutil.copytree(os.path.join(HERE, "caller"), where, dirs_exist_ok=True)
        installs.run(["go", "mod", "tidy"], where)
        installs.run(["go", "build", "-o", "caller", "."], where)
    return os.path.join(where, "caller")


def server(directory, client):
    """What starts the program with the servers of a client, and its environment."""
    import servers
    family, extra, version = installs.parts(client)
    client, switches = f"{family}@{version}", SWITCHES[extra] if extra else {}
    if family == "cpp":
        import grpc
        wheel = {} if version == grpc.__version__ else {"PYTHONPATH": installs.folder(directory, client)}
        # An audit logger writes through the buffer of C.
        return ["stdbuf", "-oL", sys.executable, os.path.join(HERE, "servers", "server.py")], {**wheel, **switches}
    if family == "node":
        return ["node", os.path.join(HERE, "servers", "server.mjs"), installs.folder(directory, client)], switches
    return servers.build(directory, client), switches


class Program:
    """A program that takes JSON lines; what it says is in a queue, and what it logs in a file."""

    def __init__(self, command, env=None):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, env={**os.environ, **(env or {})}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True, errors="replace")
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def tell(self, message):
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass

    def ask(self, message):
        self.tell(message)
        line = self.lines.get(timeout=90)
        if line is None:
            raise RuntimeError("the caller has ended: " + self.logged(0)[-1500:])
        return json.loads(line)

    def logged(self, since):
        size = os.fstat(self.log.fileno()).st_size
        return os.pread(self.log.fileno(), max(0, size - since), since).decode(errors="replace")

    def position(self):
        return os.fstat(self.log.fileno()).st_size

    def died(self):
        return self.process.poll() is not None

    def end(self):
        self.process.kill()
        self.process.wait()


class World:
    """A control plane, a program with one server at a time, a caller and a folder with certificates."""

    def __init__(self, directory, client, is_loud):
        import control_plane
        self.family = installs.parts(client)[0]
        self.command, self.env = server(directory, client)
        self.is_loud = is_loud
        self.pack = control_plane.pack
        self.name_of = lambda resource: resource[control_plane.NAME_FIELD[resource["@type"]]]
        self.new_plane = lambda: control_plane.ControlPlane(64)
        self.made = tempfile.mkdtemp()
        table = os.path.join(FIXTURES, "certificates.json")
        subprocess.run([caller(directory), "certificates", table, self.made], check=True)
        self.new_caller = lambda: Program([caller(directory), self.made])
        self.caller = self.new_caller()
        self.program, self.tag, self.played, self.settings = None, 0, 0, None

    def bootstrap(self, row):
        from client import bootstrap
        with open(os.path.join(FIXTURES, "bootstrap.json")) as text:
            ours = json.load(text)
        ours.update(row.get("bootstrap", {}))
        text = json.dumps(bootstrap(self.plane.port, ours))
        return text.replace("CERTS", self.folder)

    def begin(self, row):
        """A program for this row: the last one, if it has nothing of its own."""
        # A client of Node that has once missed a resource does not tell the next server of it.
        misses = self.family == "node" and '"rds"' in json.dumps(row["resources"])
        own = misses or any(key in row for key in ("bootstrap", "env")) or any("rotate" in step for step in row["steps"])
        if self.program is None or own or self.settings or self.played >= KEPT or self.program.died():
            self.end()
            self.plane = self.new_plane()
            self.folder = tempfile.mkdtemp()
            shutil.copytree(self.made, self.folder, dirs_exist_ok=True)
            loud = LOUD[self.family] if self.is_loud else {}
            env = {**self.env, **ALWAYS.get(self.family, {}), **loud, **row.get("env", {}), "GRPC_XDS_BOOTSTRAP_CONFIG": self.bootstrap(row)}
            self.program, self.played, self.settings = Program(self.command, env), 0, own
            if self.family in COLD:
                self.start(WARM)
                self.wait(30)
                for step in WARM["steps"]:
                    play(self, WARM, step)
                if self.program.died():
                    raise RuntimeError(f"the server ended with {self.program.process.returncode} before it was asked: {self.audit} {self.program.logged(0)[-1500:]}")
        self.played += 1
        self.start(row)

    def start(self, row):
        """Starts the server of a row in the program that runs, in place of the last one."""
        self.tag += 1
        self.from_log, self.was_silent = self.program.position(), False
        self.modes, self.audit, self.heard = [], [], 0
        self.plane.nacks.clear()
        with self.plane.lock:
            self.plane.table.clear()
        self.serve(row["resources"])
        self.program.tell({"listen": row["listen"], "credentials": row.get("credentials", "xds"), "tag": self.tag,
                           **({"options": row["options"][self.family]} if self.family in row.get("options", {}) else {})})

    def stop(self):
        """Stops the server; some cannot be stopped any more."""
        self.program.tell({"stop": True, "tag": self.tag})
        until, self.stopped = time.monotonic() + 3, False
        while not self.stopped and time.monotonic() < until and not self.program.died():
            try:
                self.stopped = '"STOPPED"' in (self.program.lines.get(timeout=0.1) or "")
            except queue.Empty:
                pass

    def end(self):
        if self.program:
            self.program.end()
            self.plane.server.stop(0)
            shutil.rmtree(self.folder)
        self.program = None

    def serve(self, resources):
        self.plane.set([(r["@type"], self.name_of(r), self.pack(r)) for r in resources])

    def hear(self):
        """Takes what the server has said so far: modes, and lines of an audit logger."""
        while True:
            try:
                line = self.program.lines.get_nowait()
            except queue.Empty:
                break
            if line is None:
                break
            try:
                said = json.loads(line)
            except ValueError:
                self.audit.append(line)
                continue
            if "mode" not in said:
                said.get("grpc_audit_log", {}).pop("timestamp", None)
                self.audit.append(said)
            elif said["tag"] == self.tag and said["mode"] not in ("STARTED", "STOPPED"):
                if self.family != "node" or self.modes[-1:] != [[said["mode"], said["words"]]]:  # Node says it twice
                    self.modes.append([said["mode"], said["words"]])
        if self.family == "cpp":
            import server_logs
            self.modes = server_logs.modes(self.program.logged(self.from_log)) + [m for m in self.modes if m[0] == "ENDED"]

    def wait(self, seconds):
        """Waits until the server has told another mode."""
        until, rejected = time.monotonic() + seconds, False
        self.hear()
        while len(self.modes) == self.heard and time.monotonic() < until and not self.program.died():
            # A server that has not told 3 s later what it makes of a rejected Listener never does; it misses routes after 15 s.
            if not rejected and any(kind == "Listener" for kind, _ in self.plane.nacks):
                rejected, until = True, min(until, time.monotonic() + 3)
            time.sleep(0.02)
            self.hear()
        told, self.heard = self.modes[self.heard:], len(self.modes)
        return told


def address(row, step):
    port = row["listen"].rsplit(":", 1)[1]
    to = step.get("to", "127.0.0.1")
    return (f"[{to}]" if ":" in to else to) + ":" + port


def source(step):
    where = step.get("from", "")
    if "::" in where:  # IPv6, without a port
        return f"[{where}]:0"
    return where if not where or ":" in where else where + ":0"


def without_nothing(values):
    return {key: value for key, value in values.items() if value not in (None, [], "", {})}


def call(step):
    (verb, name), = [(verb, step[verb]) for verb in ("call", "begin") if verb in step]
    return {"do": verb, "name": name, "method": step.get("method", "/pkg.Service/Method"), "timeout": step.get("timeout", 5),
            "authority": step.get("authority", "server.test"), "headers": step.get("headers", [])}


def play(world, row, step):
    """The answer to one step."""
    ask = world.caller.ask
    if "connect" in step:
        told = ask({"do": "connect", "name": step["connect"], "from": source(step), "to": address(row, step),
                    "tls": step.get("tls"), "timeout": 1 if world.was_silent else 4})
        world.was_silent = "silent" in told  # the next one need not wait as long
        return told
    if "call" in step or "begin" in step:
        world.hear()
        before = len(world.audit)
        answers = [ask(call(step)) for _ in range(step.get("count", 1))]
        time.sleep(0.05 if "audit_logging_options" in json.dumps(row["resources"]) else 0)
        world.hear()
        if any(answer != answers[0] for answer in answers):
            return {"all": answers}
        return {**answers[0], **without_nothing({"audit": world.audit[before:]})}
    if "finish" in step:
        return ask({"do": "finish", "name": step["finish"], "timeout": step.get("timeout", 20)})
    if "state" in step:
        told = ask({"do": "state", "name": step["state"], "timeout": step.get("timeout", 2)})
        return {name: round(2 * value) / 2 if isinstance(value, float) else value for name, value in told.items()}
    if "update" in step:
        world.serve(step["update"])
        time.sleep(step.get("settle", 1))
    elif "remove" in step:
        world.plane.set([(f"type.googleapis.com/{name.split('/', 1)[0]}", name.split("/", 1)[1], None) for name in step["remove"]])
        time.sleep(step.get("settle", 1))
    elif "rotate" in step:  # file -> the file that takes its place
        for old, new in step["rotate"].items():
            shutil.copy(os.path.join(world.made, new), os.path.join(world.folder, old))
        time.sleep(step.get("settle", 3))
    elif "sleep" in step:
        time.sleep(step["sleep"])
    elif "modes" in step:
        return {"modes": world.wait(step["modes"] if step["modes"] is not True else 1)}
    return {"modes": told} if (told := world.wait(0)) else {}


def ask(world, row):
    world.begin(row)
    modes = world.wait(row.get("patience", PATIENCE))
    # The log of C-core is a moment before the socket, and Node reads its certificates after it says that it serves.
    time.sleep(0.4 if world.family == "node" and "DownstreamTlsContext" in json.dumps(row["resources"]) else 0.05)
    world.hear()
    modes, world.heard = modes + world.modes[world.heard:], len(world.modes)
    steps = [play(world, row, step) for step in row["steps"]]
    if any("closed" in step or "reset" in step for step in steps):
        time.sleep(0.1)  # a process that dies takes a moment
    world.hear()
    answer = {"id": row["id"], "modes": modes, "steps": steps, "nacks": list(world.plane.nacks)}
    if world.program.died():
        answer.update(died=True, words=world.program.logged(world.from_log)[-1500:])
    world.caller.ask({"do": "forget"})
    world.stop()
    if world.is_loud:
        answer["log"] = world.program.logged(world.from_log)
    # A server of Node goes on with what it rejected when it is stopped.
    if not world.stopped or (world.family == "node" and world.plane.nacks):
        world.end()
    return without_nothing(answer)


def worker(directory, client, is_loud):
    alone.seclude()
    world = World(directory, client, is_loud)
    for line in sys.stdin:
        row = json.loads(line)
        try:
            answer = ask(world, row)
        except Exception:
            answer = {"id": row["id"], "not_asked": traceback.format_exc()[-2000:]}
            world.end()
            world.caller.end()
            world.caller = world.new_caller()
        print(json.dumps(answer, separators=(",", ":"), ensure_ascii=False), flush=True)
    world.end()
    world.caller.end()
    shutil.rmtree(world.made)
    os._exit(0)


def record(directory, client, rows, at_once, is_loud):
    """The answers to rows, in their order."""
    command = [*alone.apart(), sys.executable, os.path.abspath(__file__), "worker", directory, client, *["--log"] * is_loud]
    return alone.asked(command, rows, at_once)


def keep(path, rows, *answers):
    """Answers of a file that is there already stay, unless there are new ones."""
    kept = {}
    if os.path.exists(path):
        with gzip.open(path, "rt") as text:
            kept = {row["id"]: row for row in map(json.loads, text)}
    with open(rows) as text:
        asked = [json.loads(line) for line in text]
    for row in asked:
        old = kept.get(row["id"], {})
        same = all(old.get(name) == row.get(name) for name in {*old, *row} - {"answers", "about"})
        kept[row["id"]] = {**row, "answers": old["answers"] if same else {}}
    for name in answers:
        for answer in map(json.loads, open(name)):
            if answer["id"] not in kept or "not_asked" in answer:
                print(f"{answer['id']}: not kept", file=sys.stderr)
                continue
            client, at = answer.pop("client"), kept[answer.pop("id")]
            if at["answers"].get(client, answer) != answer:
                print(f"{at['id']}: {client} answers otherwise", file=sys.stderr)
            at["answers"][client] = answer
    with open(path, "wb") as out, gzip.GzipFile("", "wb", 9, out, 0) as packed:
        for row in kept.values():
            packed.write((json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n").encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["install", "record", "keep", "worker"])
    parser.add_argument("directory")
    parser.add_argument("clients", nargs="*", metavar="client")
    parser.add_argument("-j", dest="at_once", type=int, default=1, help="rows at once, each in a network of its own (1)")
    parser.add_argument("--log", action="store_true", help="keep what the server logs")
    args = parser.parse_args()
    if args.what == "install":
        caller(args.directory)
        for client in args.clients:
            server(args.directory, client)
    elif args.what == "keep":
        keep(args.directory, *args.clients)
    elif args.what == "worker":
        worker(args.directory, *args.clients, args.log)
    else:
        (client,) = args.clients
        rows = [json.loads(line) for line in sys.stdin if line.strip()]
        for answer in record(args.directory, client, rows, args.at_once, args.log):
            print(json.dumps({"client": client, **answer}, separators=(",", ":"), ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
