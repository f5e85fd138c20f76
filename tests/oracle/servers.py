#!/usr/bin/env python3
"""Asks real xDS servers what they do with a Listener. See README.md.

  servers.py DIR CLIENT... < rows > answers        go@1.85.0, java@1.85.1; `live.py install` has to have installed it

A row is {"id", "resources", "listen", "then": what comes after them, "bootstrap"}. `HOST` in it is the address that a server of the
client listens on. The answer has the modes of the server with its words, and what an RPC got then.
"""
import glob
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time

import alone
import installs

HERE = os.path.dirname(os.path.abspath(__file__))
TEMPLATE = "grpc/server?address=%s"
# A server of Java that is given a port listens everywhere.
HOSTS = {"go": "127.0.0.1", "java": "0.0.0.0"}


def build(directory, client):
    """What starts the server of a client, which is built when it is asked for first."""
    family, _, version = installs.parts(client)
    where = os.path.join(installs.folder(directory, client), "server")
    if not os.path.isdir(where):
        os.makedirs(where)
        if family == "go":
            for path in glob.glob(os.path.join(HERE, "servers", "go", "*.go")):
                subprocess.run(["cp", path, where], check=True)
            with open(os.path.join(where, "go.mod"), "w") as out:
                out.write(f"module server\n\ngo 1.22\n\nrequire google.golang.org/grpc v{version}\n")
            tags = "before_1_58" if installs.number(version) < (1, 58) else ""
            installs.run(["go", "mod", "tidy"], where)
            installs.run(["go", "build", "-tags", tags, "-o", "server", "."], where)
        else:
            source = os.path.join(HERE, "servers", "java", "Server.java")
            installs.run(["javac", "-nowarn", "-cp", f"{where}/../target/dependency/*", "-d", where, source], where)
    return {"go": [f"{where}/server"], "java": ["java", "-cp", f"{where}:{where}/../target/dependency/*", "Server"]}[family]


def rpc(address):
    import grpc
    host, port = address.rsplit(":", 1)
    host = "127.0.0.1" if host in ("0.0.0.0", "[::]") else host
    with grpc.insecure_channel(f"{host}:{port}", options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        try:
            channel.unary_unary("/pkg.Service/Method")(b"", timeout=5)
            return "OK", ""
        except grpc.RpcError as error:
            return error.code().name, error.details()


def ask(row, command):
    import control_plane
    from client import bootstrap
    plane = control_plane.ControlPlane(32)
    entries = lambda resources: [(r["@type"], r[control_plane.NAME_FIELD[r["@type"]]], control_plane.pack(r)) for r in resources]
    plane.set(entries(row["resources"]))
    config = bootstrap(plane.port, {"server_listener_resource_name_template": TEMPLATE, **row.get("bootstrap", {})})
    modes, said = [], queue.Queue()
    with tempfile.TemporaryFile() as log:
        env = {**os.environ, **row.get("env", {}), "GRPC_XDS_BOOTSTRAP_CONFIG": json.dumps(config)}
        process = subprocess.Popen([*command, row["listen"]], env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=log, text=True)

        def read():
            for line in process.stdout:
                modes.append(json.loads(line))
                said.put(modes[-1])
            said.put(None)

        threading.Thread(target=read, daemon=True).start()
        steps = []
        for resources in [None, *([row["then"]] if "then" in row else [])]:
            if resources is not None:
                plane.set([(t, n, None) for t, n in resources] if resources and isinstance(resources[0], list) else entries(resources))
            try:
                said.get(timeout=20)
            except queue.Empty:
                pass
            time.sleep(1)
            code, details = rpc(row["listen"])
            time.sleep(0.5)
            steps.append({"modes": list(modes), "code": code, "details": details, "died": process.poll() is not None})
            modes.clear()
        process.kill()
        process.wait()
        log.seek(0)
        words = log.read().decode(errors="replace")
    died = any(step["died"] for step in steps)
    return {"id": row["id"], "steps": steps, "nacks": plane.nacks, **({"words": words[-1500:]} if died else {})}


def main():
    directory, clients = sys.argv[1], sys.argv[2:]
    commands = {client: build(directory, client) for client in clients}
    alone.seclude()
    for line in sys.stdin:
        for client, command in commands.items():
            row = json.loads(line.replace("HOST", HOSTS[installs.parts(client)[0]]))
            print(json.dumps({"client": client, **ask(row, command)}, separators=(",", ":")), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
