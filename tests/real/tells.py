"""Compares dumps with what the processes say by other means.

  tells.py status DUMP SAID      every resource of a gRPC client with its status, versions, times and bytes
  tells.py rejected DUMP NAME RULE
  tells.py same ONE OTHER        two dumps but for versions and times
  tells.py admin DUMP HOST:PORT  what Envoy's admin port answers, section by section
  tells.py proxy DUMP HOST:PORT  what Envoy has from its control plane, and what that control plane gives us: resource by resource
  tells.py peak MB COMMAND...    ends as the command does, which may have so much memory
"""
import base64
import json
import os
import resource
import subprocess
import sys
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "oracle"))


def entries(path):
    with open(path) as dump:
        clients = json.load(dump)["config"]
    return [entry for client in clients for entry in client["generic_xds_configs"]]


def status(dump, said):
    import control_plane  # noqa: F401 loads the protos
    from envoy.service.status.v3 import csds_pb2
    from google.protobuf import json_format
    Entry = csds_pb2.ClientConfig.GenericXdsConfig
    with open(said) as line:
        wanted = [Entry.FromString(base64.b64decode(entry)) for entry in json.load(line)["entries"]]
    found = {(e["type_url"], e["name"]): json_format.ParseDict(e, Entry()) for e in entries(dump)}
    assert len(found) == len(wanted) > 4, (found, wanted)
    for theirs in wanted:
        ours = found[theirs.type_url, theirs.name]
        # The client reckons its times anew for each answer, and they differ by some nanoseconds.
        assert abs(ours.last_updated.ToMicroseconds() - theirs.last_updated.ToMicroseconds()) < 10, (ours, theirs)
        for entry in (ours, theirs):
            entry.ClearField("last_updated")
            entry.error_state.ClearField("last_update_attempt")
        assert ours == theirs, (ours, theirs)


def rejected(dump, name, rule):
    (entry,) = [e for e in entries(dump) if e["name"] == name]
    assert entry["client_status"] == "NACKED" and rule in entry["error_state"]["details"], entry
    assert entry["error_state"]["failed_configuration"]["name"] == name
    assert sum(e["client_status"] == "ACKED" for e in entries(dump)) == 4


def same(one, other):
    def bare(path):
        return sorted((e["type_url"], e["name"], e["client_status"], json.dumps(e.get("xds_config")), error(e)) for e in entries(path))

    def error(entry):
        state = entry.get("error_state", {})
        return state.get("details", ""), json.dumps(state.get("failed_configuration"))
    assert bare(one) == bare(other) and bare(one)


def admin(dump, address):
    with open(dump) as text:
        fetched = json.load(text)
    with urllib.request.urlopen(f"http://{address}/config_dump?include_eds") as answer:
        said = json.load(answer)
    named = {section["@type"]: section for section in said["configs"]}
    assert fetched["cluster_statuses"], "no /clusters"
    count = 0
    for section in fetched["configs"]:
        assert section == named.pop(section["@type"]), section["@type"]
        count += 1
    assert not named and count > 5, (named, count)


HEALTHY, UNHEALTHY = 1, 2  # envoy.config.core.v3.HealthStatus


def proxy(dump, address):
    from control_plane import CDS, EDS, LDS, RDS, TYPE
    from google.protobuf import json_format, symbol_database

    def message(resource):
        value = symbol_database.Default().GetSymbol(resource["@type"][len(TYPE):])()
        return json_format.ParseDict({key: value for key, value in resource.items() if key != "@type"}, value)

    with urllib.request.urlopen(f"http://{address}/config_dump?include_eds") as answer:
        said = json.load(answer)
    with urllib.request.urlopen(f"http://{address}/clusters?format=json") as answer:
        (hosts,) = [cluster["host_statuses"] for cluster in json.load(answer)["cluster_statuses"] if cluster["name"] == "a"]
    seen = {host["address"]["socket_address"]["port_value"]: HEALTHY if host["health_status"].keys() == {"eds_health_status"} else UNHEALTHY
            for host in hosts}
    assert sorted(seen.values()) == [HEALTHY, UNHEALTHY], hosts
    held = {}
    for section in said["configs"]:
        for key, inside in (("dynamic_active_clusters", "cluster"), ("dynamic_route_configs", "route_config"),
                            ("dynamic_endpoint_configs", "endpoint_config")):
            for entry in section.get(key, ()):
                resource = entry[inside]
                held[resource["@type"], resource.get("name") or resource["cluster_name"]] = entry.get("version_info"), message(resource)
        for entry in section.get("dynamic_listeners", ()):
            state = entry["active_state"]
            held[LDS, entry["name"]] = state["version_info"], message(state["listener"])
    given = {(e["type_url"], e["name"]): (e["version_info"], message(e["xds_config"])) for e in entries(dump)}
    assert held.keys() == given.keys() and {key[0] for key in held} == {LDS, RDS, CDS, EDS}, (sorted(held), sorted(given))
    for key, (version, resource) in held.items():
        expected_version, expected = given[key]
        if key[0] == EDS:
            # Envoy keeps hosts, and makes a resource of them again: it adds what is default, and the health that it sees.
            hosts = [[(lb.endpoint.address, lb.load_balancing_weight.value or 1) for l in r.endpoints for lb in l.lb_endpoints]
                     for r in (resource, expected)]
            assert hosts[0] == hosts[1] and hosts[0], hosts
            # What it sees of their health is in the dump, and in what it says of its clusters.
            health = {lb.endpoint.address.socket_address.port_value: lb.health_status for l in resource.endpoints for lb in l.lb_endpoints}
            assert health == seen, (health, seen)
            places = [[(l.locality, l.priority, l.load_balancing_weight) for l in r.endpoints] for r in (resource, expected)]
            assert places[0] == places[1], places
        else:
            assert resource == expected, (resource, expected)
            assert version == expected_version, key
    print(f"{len(held)} resources as Envoy holds them")


def peak(most, *command):
    code = subprocess.call(command)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
    print(f"{' '.join(command)}: exit code {code}, {used:.0f} MB", file=sys.stderr)
    assert used < float(most), f"more than {most} MB"
    sys.exit(code)


if __name__ == "__main__":
    {"status": status, "rejected": rejected, "same": same, "admin": admin, "proxy": proxy, "peak": peak}[sys.argv[1]](*sys.argv[2:])
