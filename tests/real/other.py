"""What is put into the control plane that is not ours (tests/real/plane), and what a dump says of it.

  other.py write N FILE               the snapshots: of the nodes `shop`, `next` and `recorded`, with N recorded resources
  other.py put FILE NODE DUMP         every resource of the node is in the dump (a ClientStatusResponse in wire form), byte for byte,
                                      and no other; a rejected one with the rule and the bytes that were rejected
  other.py client SAID DUMP           a real client behind the same control plane holds the same, field by field, says the same
                                      versions, and blames the same fields
  other.py verdicts FILE DUMP         the recorded verdicts on the resources of the node `recorded`
"""
import base64
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "oracle"))

VERSION = "v7"


def shops():
    """The shop, and its next version: other endpoints, a route to another cluster, and the cluster that was rejected is put right."""
    import copy
    from control_plane import CDS, EDS
    from process import shop
    from resources import ADS
    now = shop()
    after = copy.deepcopy(now)
    for resource in after:
        if resource["@type"] == EDS:
            resource["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]["socket_address"]["port_value"] = 9090
        if resource.get("name") == "bad":
            resource.update(lb_policy="RING_HASH")
        if resource.get("name") == "routes":
            resource["virtual_hosts"][0]["routes"][0]["route"]["cluster"] = "new"
    after.append({"@type": CDS, "name": "new", "type": "EDS", "eds_cluster_config": {"eds_config": ADS, "service_name": "endpoints"}})
    return now, after


def write(count, path):
    from compare import chosen
    from control_plane import pack
    from resources import entries_of
    lines = []

    def put(node, entries):
        for type_url, name, packed in entries:
            assert "\t" not in name and "\n" not in name, name
            assert packed.type_url == type_url, name
            lines.append("\t".join((node, VERSION, type_url, name, base64.b64encode(packed.value).decode())))
    for node, resources in zip(("shop", "next"), shops()):
        put(node, [(r["@type"], r.get("name") or r["cluster_name"], pack(r)) for r in resources])
    entries, _ = entries_of(chosen(count))
    put("recorded", entries)
    with open(path, "w") as out:
        out.write("\n".join(lines) + "\n")


def of_node(path, node):
    """(type URL, name) -> bytes."""
    with open(path) as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    return {(type_url, name): base64.b64decode(value) for of, _, type_url, name, value in rows if of == node}


def entries(path):
    """(type URL, name) -> entry, of a dump in wire form."""
    import control_plane  # noqa: F401 loads the protos
    from envoy.service.status.v3 import csds_pb2
    with open(path, "rb") as dump:
        answer = csds_pb2.ClientStatusResponse.FromString(dump.read())
    (client,) = answer.config
    return {(entry.type_url, entry.name): entry for entry in client.generic_xds_configs}


def status_of(entry):
    from client import STATUS
    return STATUS.get(entry.client_status, str(entry.client_status))


def put(path, node, dump):
    given, found = of_node(path, node), entries(dump)
    # A name that is asked for, and does not exist, is in the dump too.
    there = {key: entry for key, entry in found.items() if status_of(entry) != "DOES_NOT_EXIST"}
    assert there.keys() <= given.keys(), sorted(there.keys() - given.keys())
    missing = sorted(given.keys() - there.keys())
    rejected = 0
    for key, entry in there.items():
        if status_of(entry) == "NACKED":
            rejected += 1
            error = entry.error_state
            assert error.failed_configuration.value == given[key], key
            assert re.search(r"\[[a-z0-9-]+\]", error.details), (key, error.details)
            assert error.version_info == VERSION and not entry.version_info, key
        else:
            assert status_of(entry) == "ACKED" and entry.xds_config.value == given[key], key
            assert entry.version_info == VERSION, key
    # What nothing refers to is not asked for: routes and endpoints behind a rejected resource.
    behind = ("RouteConfiguration", "ClusterLoadAssignment")
    assert all(type_url.endswith(behind) for type_url, _ in missing), missing
    print(f"{len(there)} resources as they were put in, {rejected} of them rejected; {len(missing)} not asked for")
    assert rejected and len(there) >= len(given) - len(missing)
    assert node == "recorded" or not missing, missing


def client(said, dump):
    from envoy.service.status.v3 import csds_pb2
    found = entries(dump)
    with open(said) as line:
        told = [csds_pb2.ClientConfig.GenericXdsConfig.FromString(base64.b64decode(entry))
                for entry in json.load(line)["entries"]]
    told = {(entry.type_url, entry.name): entry for entry in told}
    assert told.keys() == found.keys(), (sorted(told), sorted(found))
    for key, theirs in told.items():
        ours = found[key]
        assert status_of(ours) == status_of(theirs), (key, status_of(ours), status_of(theirs))
        assert (ours.version_info, ours.xds_config) == (theirs.version_info, theirs.xds_config), key
        blamed = re.findall(r"field:(.*?) errors?:", theirs.error_state.details)
        assert blamed or status_of(theirs) != "NACKED", theirs
        for path in blamed:
            assert f"at {path}: " in ours.error_state.details, (path, ours.error_state.details)
        assert ours.error_state.version_info == theirs.error_state.version_info, key
    print(f"{len(told)} resources as the real client holds them")
    assert any(status_of(entry) == "NACKED" for entry in told.values()) and len(told) > 4


def verdicts(path, dump):
    from compare import chosen
    from control_plane import KIND
    found = entries(dump)
    count, rejected = 0, 0
    for case in chosen(len(of_node(path, "recorded"))):
        entry = found.get((KIND[case["kind"]], case["id"]))
        if entry is None:
            continue
        count += 1
        rejected += case["verdict"] == "NACK"
        assert status_of(entry) == {"ACK": "ACKED", "NACK": "NACKED"}[case["verdict"]], case["id"]
    print(f"{count} verdicts as the client's recorded ones, {rejected} of them rejections")
    assert count > 50 and rejected > 10


if __name__ == "__main__":
    what = sys.argv[1]
    if what == "write":
        write(int(sys.argv[2]), sys.argv[3])
    else:
        {"put": put, "client": client, "verdicts": verdicts}[what](*sys.argv[2:])
