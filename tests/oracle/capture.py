#!/usr/bin/env python3
"""Writes the verbose log of a real gRPC client (grpcio) that lives through some steps. See README.md.

  capture.py client.log < fixtures/captures/shop.json      from the root of the repository

Control plane and backends run in this process, the client in one of its own, so that the log is the client's alone.
"""
import json
import os
import subprocess
import sys
import time

import alone

TRACERS = "xds_client,client_channel,client_channel_call,client_channel_lb_call,subchannel,retry"


def capture(row, path):
    import backend
    import control_plane
    import yaml
    from control_plane import NAME_FIELD, pack
    plane = control_plane.ControlPlane(32)
    backends = {address: backend.start(address) for address in row["backends"]}

    def serve(resources):
        plane.set([(r["@type"], r[NAME_FIELD[r["@type"]]], pack(r)) for r in resources])

    with open(row["resources"], encoding="utf-8") as file:
        serve(yaml.safe_load(file)["resources"])
    bootstrap = {"xds_servers": [{"server_uri": f"127.0.0.1:{plane.port}", "channel_creds": [{"type": "insecure"}],
                                  "server_features": ["xds_v3"]}], "node": {"id": "shop-client"}}
    env = {**os.environ, "GRPC_VERBOSITY": "debug", "GRPC_TRACE": row.get("trace", TRACERS), "TZ": "UTC",
           "GRPC_XDS_BOOTSTRAP_CONFIG": json.dumps(bootstrap), **row.get("env", {})}
    with open(path, "w", encoding="utf-8") as log:
        client = subprocess.Popen([sys.executable, __file__, "client", row["target"]], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=log, text=True, env=env)
    for step in row["steps"]:
        if "pick" in step:
            client.stdin.write(json.dumps(step["pick"]) + "\n")
            client.stdin.flush()
            print(json.dumps({**step, "answers": json.loads(client.stdout.readline())}), flush=True)
        if "update" in step:
            serve(step["update"])
        if "remove" in step:
            plane.set([(t, n, None) for t, n in step["remove"]])
        if "stop" in step:
            backends.pop(step["stop"]).stop(0).wait()
        if "start" in step:
            backends[step["start"]] = backend.start(step["start"])
        time.sleep(step.get("sleep", 0.3 if "update" in step or "remove" in step else 0))
    client.stdin.close()
    client.wait()
    os._exit(0)


def client(target):
    import grpc
    channel = grpc.insecure_channel("xds:///" + target)
    for line in sys.stdin:
        step = json.loads(line)
        method = channel.unary_unary(step["method"])
        headers = list(map(tuple, step.get("headers", [])))
        calls = []
        for _ in range(step.get("count", 1)):
            call = method.future(b"", timeout=step.get("timeout", 5), metadata=headers)
            if not step.get("at_once"):
                call.exception()
            calls.append(call)
        answers = [call.code().name if call.exception() else call.result().decode() for call in calls]
        print(json.dumps(answers), flush=True)
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "client":
        client(sys.argv[2])
    else:
        alone.seclude()
        capture(json.load(sys.stdin), sys.argv[1])
