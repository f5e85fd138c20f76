#!/usr/bin/env python3
"""Asks other clients than the reference: C-core of any wheel of grpcio, and grpc-js-xds from npm. See README.md.

  others.py install DIR CLIENT...              cpp@1.62.3, node or node@1.14.1: wheels by pip, packages by npm, into DIR
  others.py ask DIR CLIENT < cases > answers   single resources as `ask.py resources` takes them: each comes back with its answer
  others.py repeat DIR CLIENT... [--every N]   puts every Nth recorded resource to the clients again, and says which verdicts are no
                                               longer the recorded ones (fixtures/clients); exit code 1 if there are any
"""
import argparse
import base64
import gzip
import json
import os
import queue
import subprocess
import sys
import threading
import time

import alone

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "..", "fixtures")
NODE_PACKAGES = {"@grpc/grpc-js-xds": "1.14.1", "@grpc/grpc-js": "1.14.7"}
AT_ONCE = 100
PATIENCE = 30.0


def parts(client):
    family, _, version = client.partition("@")
    return family, version


def install(directory, clients):
    for client in clients:
        family, version = parts(client)
        where = os.path.join(directory, client)
        os.makedirs(where, exist_ok=True)
        if family == "cpp":
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", where,
                            f"grpcio=={version}"], check=True)
        else:
            packages = {**NODE_PACKAGES, **({"@grpc/grpc-js-xds": version} if version else {})}
            subprocess.run(["npm", "install", "--silent", "--prefix", where,
                            *(f"{name}@{number}" for name, number in packages.items())], check=True)


# --- C-core: a child with nothing but the old wheel, and a control plane here -----------------------------------------


def child():
    """The client: opens channels, and hands over what its own CSDS would say."""
    import grpc
    from grpc._cython import cygrpc
    channels = []
    for line in sys.stdin:
        for target in json.loads(line):
            channel = grpc.insecure_channel("xds:///" + target)
            # Clients before the event engine get on only while something polls.
            channel.subscribe(lambda _: None, try_to_connect=True)
            call = channel.unary_unary("/oracle.Probe/Call").future(b"", timeout=90, wait_for_ready=True)
            channels.append((channel, call))
        print(base64.b64encode(cygrpc.dump_xds_configs()).decode(), flush=True)
    os._exit(0)


class Core:
    """An old client in a process of its own."""

    def __init__(self, wheel, port, settings):
        from client import bootstrap
        additions = json.loads(settings.pop("ORACLE_BOOTSTRAP", "{}"))
        environment = {**os.environ, **settings, "PYTHONPATH": wheel,
                       "GRPC_XDS_BOOTSTRAP_CONFIG": json.dumps(bootstrap(port, additions))}
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "child"], text=True, env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def say(self, targets):
        """(type URL, name) -> (status, the client's words); EOFError if the process has died."""
        from envoy.service.status.v3 import csds_pb2
        try:
            self.process.stdin.write(json.dumps(targets) + "\n")
            self.process.stdin.flush()
        except OSError:
            raise EOFError
        line = self.lines.get(timeout=PATIENCE)
        if not line:
            raise EOFError
        dump = base64.b64decode(line)
        try:
            configs = csds_pb2.ClientStatusResponse.FromString(dump).config
            entries = [entry for config in configs for entry in config.generic_xds_configs]
        except Exception:
            entries = []
        # Before 1.58 it is one ClientConfig.
        entries = entries or csds_pb2.ClientConfig.FromString(dump).generic_xds_configs
        return {(e.type_url, e.name): (e.client_status, e.error_state.details) for e in entries}


def ask_core(wheel, cases):
    from resources import by_settings
    for settings, group in by_settings(cases).items():
        for start in range(0, len(group), AT_ONCE):
            yield from group_in_core(wheel, group[start:start + AT_ONCE], dict(settings))


def group_in_core(wheel, cases, settings):
    """A crash of the client is narrowed down to its case."""
    import control_plane
    from resources import blamed, entries_of
    plane = control_plane.ControlPlane(len(cases) + 50)
    core = Core(wheel, plane.port, dict(settings))
    entries, targets = entries_of(cases)
    plane.set(entries)
    wanted = {(control_plane.KIND[case["kind"]], case["id"]): case for case in cases}
    answers, deadline = {}, time.time() + PATIENCE
    try:
        found = core.say(targets)
        while time.time() < deadline and len(answers) < len(wanted):
            time.sleep(0.1)
            found = core.say([])
            answers = {key: found[key] for key in wanted if found.get(key, (0,))[0] in (3, 4)}
        # What kills a client does so a moment after it was accepted.
        time.sleep(0.5)
        core.say([])
    except (EOFError, queue.Empty):
        core.process.kill()
        plane.server.stop(0)
        if len(cases) == 1:
            yield {**cases[0], "verdict": "CRASH", "fields": [], "details": ""}
            return
        middle = len(cases) // 2
        yield from group_in_core(wheel, cases[:middle], settings)
        yield from group_in_core(wheel, cases[middle:], settings)
        return
    core.process.kill()
    plane.server.stop(0)
    for key, case in wanted.items():
        status, details = answers.get(key, (0, ""))
        yield {**case, "verdict": {3: "ACK", 4: "NACK"}.get(status, "NONE"), "fields": blamed(details), "details": details}


# --- Node: its own decode functions ------------------------------------------------------------------------------------


def ask_node(where, cases):
    lines = []
    for case in cases:
        if "any_b64" not in case:
            from control_plane import pack
            packed = pack(case["resource"]).SerializeToString()
            case = {**case, "any_b64": base64.b64encode(packed).decode()}
        lines.append(json.dumps(case) + "\n")
    answered = subprocess.run(["node", os.path.join(HERE, "node.mjs"), where], input="".join(lines), text=True,
                              stdout=subprocess.PIPE, check=True)
    for case, line in zip(cases, answered.stdout.splitlines()):
        yield {**case, **json.loads(line)}


def ask(directory, client, cases):
    where = os.path.join(directory, client)
    return ask_core(where, cases) if parts(client)[0] == "cpp" else ask_node(where, cases)


# --- the recordings ------------------------------------------------------------------------------------------------------


def rows(name):
    with gzip.open(os.path.join(FIXTURES, name + ".jsonl.gz"), "rt") as lines:
        yield from map(json.loads, lines)


def repeat(directory, client, every):
    """How many verdicts were asked for again, and which are not the recorded ones."""
    family, version = parts(client)
    cases = {(file, case["id"]): case for file in ("rules-lds", "rules-rds", "rules-cds-eds")
             for case in rows("conformance/" + file)}
    known, flips = {}, {}
    if family == "node":
        flips = {(row["file"], row["id"]): row["answers"].get(version) for row in rows("clients/node-versions")}
    for row in rows("clients/" + family):
        verdict = row["answers"].get(version, [None])[0] if family == "cpp" else row["verdict"]
        # What kills the process was accepted first.
        verdict = (flips.get((row["file"], row["id"])) or verdict or "").replace("CRASH", "ACK")
        case = cases.get((row["file"], row["id"]))
        if verdict and case and not (family == "node" and case.get("env")):
            known[row["file"], row["id"]] = (case, verdict)
    chosen = list(known.values())[::every]
    answers = ask(directory, client, [case for case, _ in chosen])
    verdicts = {(answer["kind"], answer["id"]): answer["verdict"] for answer in answers}
    differ = [(case["id"], recorded, verdicts.get((case["kind"], case["id"]))) for case, recorded in chosen
              if verdicts.get((case["kind"], case["id"])) != recorded]
    return len(chosen), differ


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["install", "ask", "repeat"])
    parser.add_argument("directory")
    parser.add_argument("clients", nargs="+", metavar="client")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth of the recorded resources")
    args = parser.parse_args()
    if args.what == "install":
        install(args.directory, args.clients)
    elif args.what == "ask":
        alone.seclude()
        for answer in ask(args.directory, args.clients[0], [json.loads(line) for line in sys.stdin if line.strip()]):
            print(json.dumps(answer), flush=True)
    else:
        alone.seclude()
        has_changed = False
        for client in args.clients:
            asked, differ = repeat(args.directory, client, args.every)
            print(f"{client}: {asked - len(differ)} of {asked} verdicts are as recorded")
            for name, recorded, now in differ:
                print(f"  {name}: recorded {recorded}, now {now}")
            has_changed |= bool(differ)
        sys.stdout.flush()
        os._exit(1 if has_changed else 0)


if __name__ == "__main__":
    child() if sys.argv[1:] == ["child"] else main()
