"""One world in a real client: resources in, the fate of RPCs and the generated LB configs out.

Each world has a process of its own, because the environment and the xDS client are process-wide, and because some
worlds kill their client.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback

TRACERS = "cds_lb,xds_resolver,xds_wrr_locality_lb"


class NotAsked(Exception):
    """The world could not be put to the client: not JSON of the message, or a port in use."""


def ask(row):
    """A row with its answer."""
    with tempfile.TemporaryFile("w+") as log:
        env = {**os.environ, "GRPC_VERBOSITY": "debug", "GRPC_TRACE": row.get("trace", TRACERS), **row.get("env", {}),
               "ORACLE_BOOTSTRAP": json.dumps(row.get("bootstrap", {}))}
        try:
            child = subprocess.run([sys.executable, __file__], input=json.dumps(row), stdout=subprocess.PIPE,
                                   stderr=log, text=True, env=env, timeout=300)
            reply, code = child.stdout, child.returncode
        except subprocess.TimeoutExpired:
            reply, code = "", 2
        log.seek(0)
        text = log.read()
    if not reply.strip() and code > 0:
        raise NotAsked(text[-1000:])
    answer = json.loads(reply) if reply.strip() else {"crash": True}
    answer.update(lb_configs(text))
    return {**row, "answer": answer}


def lb_configs(log):
    """What the client generated: the service config and, per cluster, the newest child config of its cds policy."""
    service_config, names, children = None, {}, {}
    pattern = (r"generated service config: (?=\{)|\[cdslb (\w+)\] received update: cluster=(.*?) is_dynamic"
               r"|\[cdslb (\w+)\] generated config for child policy: (?=\[)")
    for found in re.finditer(pattern, log):
        if found.group(1):
            names[found.group(1)] = found.group(2)
            continue
        try:
            config = json.JSONDecoder().raw_decode(log, found.end())[0]
        except ValueError:
            continue  # the client's JSON is none, or another thread wrote into it
        if found.group(3):
            children[names.get(found.group(3), "?")] = config
        else:
            service_config = config
    return {"service_config": service_config, "cds_children": children}


# --- inside the process of a world ----------------------------------------------------------------


def headers(step):
    return [(k, v.encode() if k.endswith("-bin") else v) for k, v in step.get("headers") or []]


def cookies(metadata):
    return [v for k, v in metadata or () if k == "set-cookie"]


def without_nothing(result):
    """Lists and texts that are empty say nothing."""
    return {k: v for k, v in result.items() if v not in ([], "")}


def pick(channel, step):
    import backend
    import grpc
    results = []
    for _ in range(step.get("count", 1)):
        before = len(backend.hits)
        call = channel.unary_unary(step.get("method") or "/pkg.Service/Method")
        try:
            reply, done = call.with_call(b"", timeout=step.get("timeout", 5), metadata=headers(step),
                                         wait_for_ready=step.get("wait_for_ready"))
            result = {"code": "OK", "backend": reply.decode(), "set_cookie": cookies(done.initial_metadata())}
        except grpc.RpcError as error:
            result = {"code": error.code().name, "details": error.details(),
                      "set_cookie": cookies(error.initial_metadata()),
                      "set_cookie_trailing": cookies(error.trailing_metadata())}
        result["attempts"] = backend.hits[before:]
        results.append(without_nothing(result))
    return results


def begin(channel, step):
    """Starts calls without waiting for them."""
    call = channel.unary_unary(step.get("method") or "/pkg.Service/Method")
    return [call.future(b"", timeout=step.get("timeout", 5), metadata=headers(step),
                        wait_for_ready=step.get("wait_for_ready")) for _ in range(step.get("count", 1))]


def finish(calls):
    results = []
    for call in calls:
        try:
            result = {"code": "OK", "backend": call.result().decode(), "set_cookie": cookies(call.initial_metadata())}
        except Exception:
            result = {"code": call.code().name, "details": call.details()}
        results.append(without_nothing(result))
    return results


def play(row):
    import control_plane
    from control_plane import NAME_FIELD, pack
    entries = lambda resources: [(r["@type"], r[NAME_FIELD[r["@type"]]], pack(r)) for r in resources]
    first = entries(row["resources"])
    plane = control_plane.ControlPlane(32)
    import client
    stub, _keep = client.start(plane)
    import grpc
    import backend
    backends = {a: backend.start(a) for a in row.get("backends", [])}
    plane.set(first)
    backend.orca.update(row.get("orca", {}))
    options = [("grpc.default_authority", row["authority"])] if "authority" in row else []
    options += [tuple(o) for o in row.get("channel_args", [])]
    channel = grpc.insecure_channel(row.get("uri") or "xds:///" + row["target"], options=options)
    picks, under_way = [], {}
    for step in row.get("steps", []):
        if "pick" in step:
            picks.append(pick(channel, step["pick"]))
        if "begin" in step:
            under_way[step["begin"]["name"]] = begin(channel, step["begin"])
            time.sleep(step["begin"].get("settle", 0.3))
        if "finish" in step:
            picks.append(finish(under_way.pop(step["finish"])))
        if "orca" in step:
            backend.orca.update(step["orca"])
        if "update" in step:
            plane.set(entries(step["update"]))
        if "remove" in step:
            plane.set([(t, n, None) for t, n in step["remove"]])
        if "stop" in step:
            backends.pop(step["stop"]).stop(0).wait()
        if "start" in step:
            backends[step["start"]] = backend.start(step["start"])
        if "sleep" in step:
            time.sleep(step["sleep"])
    status = {f"{t.rsplit('.', 1)[-1]}/{n}": without_nothing({"status": s, "details": d})
              for (t, n), (s, d) in client.resources(stub).items()}
    return {"picks": picks, "resources": status}


if __name__ == "__main__":
    try:
        json.dump(play(json.load(sys.stdin)), sys.stdout)
        sys.stdout.flush()
        os._exit(0)  # grpc's background threads need no farewell
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
