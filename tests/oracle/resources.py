"""Single resources in a real client: does it take them, and which fields does it blame."""
import base64
import json
import os
import re
import subprocess
import sys
import time

ADS = {"ads": {}}
AT_ONCE = 200
PATIENCE = 20.0


def by_settings(cases):
    """Cases grouped by the environment and the bootstrap additions that their client process needs."""
    groups = {}
    for case in cases:
        settings = {**case.get("env", {}), "ORACLE_BOOTSTRAP": json.dumps(case.get("bootstrap", {}), sort_keys=True)}
        groups.setdefault(tuple(sorted(settings.items())), []).append(case)
    return groups


def ask(cases):
    for settings, group in by_settings(cases).items():
        for start in range(0, len(group), 800):
            yield from isolated(group[start:start + 800], dict(settings))


def isolated(cases, settings):
    """In a child process; a crash of the client is narrowed down to its case."""
    child = subprocess.run([sys.executable, __file__], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           input="".join(json.dumps(c) + "\n" for c in cases), env={**os.environ, **settings})
    if child.returncode == 0:
        yield from map(json.loads, child.stdout.splitlines())
    elif len(cases) == 1:
        yield {**cases[0], "verdict": "CRASH", "fields": []}
    else:
        middle = len(cases) // 2
        yield from isolated(cases[:middle], settings)
        yield from isolated(cases[middle:], settings)


# --- inside the process of a group ----------------------------------------------------------------


def manager(**routes):
    from control_plane import TYPE
    return {"@type": TYPE + "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
            "http_filters": [{"name": "router", "typed_config": {
                "@type": TYPE + "envoy.extensions.filters.http.router.v3.Router"}}], **routes}


def listener(name, **routes):
    from control_plane import LDS
    return {"@type": LDS, "name": name, "api_listener": {"api_listener": manager(**routes)}}


def route_to(clusters):
    return {"name": "r", "virtual_hosts": [{"name": "v", "domains": ["*"], "routes": [
        {"match": {"path": f"/s/{i}"}, "route": {"cluster": c}} for i, c in enumerate(clusters)]}]}


def renamed(case):
    """The case's resource as an Any; its own name is replaced by the case's id, so that one client can hold many."""
    from control_plane import KIND, NAME_FIELD, TYPE, pack
    from google.protobuf import any_pb2, symbol_database
    if "any_b64" in case:
        packed = any_pb2.Any.FromString(base64.b64decode(case["any_b64"]))
    else:
        packed = pack(case["resource"])
    type_url = KIND[case["kind"]]
    if packed.type_url == type_url:
        message = symbol_database.Default().GetSymbol(type_url[len(TYPE):])()
        message.ParseFromString(packed.value)
        setattr(message, NAME_FIELD[type_url], case["id"])
        packed.value = message.SerializeToString()
    return packed


def blamed(details):
    return sorted(set(re.findall(r"field:(.*?) errors?:", details, re.DOTALL)))


def entries_of(cases):
    """What has to be served so that a client asks for the cases' resources, and the targets of its channels."""
    from control_plane import CDS, KIND, LDS, pack
    entries, targets = [], []
    for kind, type_url in KIND.items():
        names = [c["id"] for c in cases if c["kind"] == kind]
        entries += [(type_url, c["id"], renamed(c)) for c in cases if c["kind"] == kind]
        if kind == "lds":
            targets += names
        elif kind == "rds":
            for name in names:
                entries.append((LDS, "l-" + name, pack(listener(
                    "l-" + name, rds={"config_source": ADS, "route_config_name": name}))))
                targets.append("l-" + name)
        elif names:
            clusters = names if kind == "cds" else ["c-" + name for name in names]
            if kind == "eds":
                entries += [(CDS, cluster, pack({
                    "@type": CDS, "name": cluster, "type": "EDS",
                    "eds_cluster_config": {"eds_config": ADS, "service_name": name}}))
                    for cluster, name in zip(clusters, names)]
            hub = f"hub-{kind}-{names[0]}"
            entries.append((LDS, hub, pack(listener(hub, route_config=route_to(clusters)))))
            targets.append(hub)
    return entries, targets


def here(cases):
    import control_plane
    from control_plane import KIND
    plane = control_plane.ControlPlane()
    import client
    stub, _keep = client.start(plane)
    import grpc
    for start in range(0, len(cases), AT_ONCE):
        group = cases[start:start + AT_ONCE]
        entries, targets = entries_of(group)
        plane.set(entries)
        channels = [grpc.insecure_channel("xds:///" + target) for target in targets]
        for channel in channels:
            channel.unary_unary("/oracle.Probe/Call").future(b"", timeout=0.2)
        wanted = {(KIND[c["kind"]], c["id"]): c for c in group}
        deadline, answers = time.time() + PATIENCE, {}
        while time.time() < deadline and len(answers) < len(wanted):
            time.sleep(0.03)
            answers = {key: found for key, found in client.resources(stub).items()
                       if key in wanted and found[0] in ("ACKED", "NACKED")}
        for key, case in wanted.items():
            status, details = answers.get(key, ("NONE", ""))
            print(json.dumps({**case, "verdict": {"ACKED": "ACK", "NACKED": "NACK"}.get(status, status),
                              "fields": blamed(details), "details": details}))
        for channel in channels:
            channel.close()
        plane.set([(type_url, name, None) for type_url, name, _ in entries])


if __name__ == "__main__":
    here([json.loads(line) for line in sys.stdin])
    sys.stdout.flush()
    os._exit(0)  # grpc's background threads need no farewell
