"""Compares dumps with what the processes say by other means.

  tells.py status DUMP SAID      every resource and status of a gRPC client
  tells.py rejected DUMP NAME RULE
  tells.py same ONE OTHER        two dumps but for versions and times
  tells.py admin DUMP HOST:PORT  what Envoy's admin port answers, section by section
"""
import json
import sys
import urllib.request


def entries(path):
    with open(path) as dump:
        clients = json.load(dump)["config"]
    return [entry for client in clients for entry in client["generic_xds_configs"]]


def status(dump, said):
    with open(said) as line:
        wanted = [tuple(row) for row in json.load(line)["resources"]]
    found = sorted((e["type_url"], e["name"], e["client_status"], e.get("error_state", {}).get("details", "")) for e in entries(dump))
    assert found == sorted(wanted), (found, wanted)


def rejected(dump, name, rule):
    (entry,) = [e for e in entries(dump) if e["name"] == name]
    assert entry["client_status"] == "NACKED" and rule in entry["error_state"]["details"], entry
    assert entry["error_state"]["failed_configuration"]["name"] == name
    assert sum(e["client_status"] == "ACKED" for e in entries(dump)) == 4


def same(one, other):
    def bare(path):
        return sorted((e["type_url"], e["name"], e["client_status"], json.dumps(e.get("xds_config"))) for e in entries(path))
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


if __name__ == "__main__":
    {"status": status, "rejected": rejected, "same": same, "admin": admin}[sys.argv[1]](*sys.argv[2:])
