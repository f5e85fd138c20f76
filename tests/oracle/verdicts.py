"""What the decoders of Go and Java say of single resources, and what is recorded of them (fixtures/clients)."""
import base64
import gzip
import json
import os
import subprocess

import installs
from client import bootstrap

FIXTURES = os.path.join(installs.HERE, "..", "..", "fixtures")
FILES = ("rules-lds", "rules-rds", "rules-cds-eds", "validate")
WRAPPER = "type.googleapis.com/envoy.service.discovery.v3.Resource"
AGGREGATE, TLS = "envoy.clusters.aggregate", "envoy.transport_sockets.tls"


def rows(name):
    with gzip.open(os.path.join(FIXTURES, name + ".jsonl.gz"), "rt") as lines:
        yield from map(json.loads, lines)


def fields(data):
    """(number, length) of the fields of a message, up to what is none."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    try:
        while at < len(data):
            tag = varint()
            kind = tag & 7
            length = varint() if kind in (0, 2) else {1: 8, 5: 4}[kind]
            if kind != 0:
                at += length
            if at > len(data):
                return
            yield tag >> 3, length if kind == 2 else 0
    except (IndexError, KeyError):
        return


def named(value, name):
    """The resource under this name, if it has none of its own: field 1 of all four types."""
    if any(number == 1 and length for number, length in fields(value)):
        return value
    name = name.encode()
    size, rest = b"", len(name)
    while rest > 127:
        size, rest = size + bytes([rest & 127 | 128]), rest >> 7
    return value + b"\n" + size + bytes([rest]) + name


def put_right(kind, value, family):
    """The resource with the names that Go and Java want and C-core never reads, so that one rule does not hide the next."""
    import control_plane  # noqa: F401 loads the protos
    from envoy.config.cluster.v3 import cluster_pb2
    from envoy.config.listener.v3 import listener_pb2
    from google.protobuf.message import DecodeError
    try:
        if kind == "lds":
            message = listener_pb2.Listener.FromString(value)
            for chain in [*message.filter_chains, *([message.default_filter_chain] if message.HasField("default_filter_chain") else [])]:
                for number, one in enumerate(chain.filters):
                    one.name = f"f{number}"
                if chain.HasField("transport_socket"):
                    chain.transport_socket.name = TLS
        elif kind == "cds":
            message = cluster_pb2.Cluster.FromString(value)
            if message.HasField("transport_socket"):
                message.transport_socket.name = TLS
            if family == "java":
                message.ClearField("transport_socket_matches")
            if message.WhichOneof("cluster_discovery_type") == "cluster_type":
                message.cluster_type.name = AGGREGATE
        else:
            return value
    except DecodeError:
        return value
    return message.SerializeToString()


def wrapped(name, packed):
    import control_plane  # noqa: F401 loads the protos
    from envoy.service.discovery.v3 import discovery_pb2
    from google.protobuf import any_pb2
    outer = any_pb2.Any()
    outer.Pack(discovery_pb2.Resource(name=name, resource=packed))
    return outer


# The oldest release of Java that opens a discovery Resource.
UNWRAPS = (1, 46)


def sent(case, client, is_put_right=False):
    """What the decoder of a client is given for a case."""
    from google.protobuf import any_pb2
    family, _, version = installs.parts(client)
    packed = any_pb2.Any.FromString(base64.b64decode(case["any_b64"]))
    if not case.get("wrapped") and packed.type_url != WRAPPER:
        packed.value = named(packed.value, case["id"])
        if is_put_right:
            packed.value = put_right(case["kind"], packed.value, family)
        if family == "java" and installs.number(version) >= UNWRAPS:  # which was given each resource under its id, whatever its own name
            packed = wrapped(case["id"], packed)
    return {"id": case["id"], "kind": case["kind"], "any_b64": base64.b64encode(packed.SerializeToString()).decode(),
            "bootstrap": bootstrap(1, case.get("bootstrap") or {})}


def ask(directory, client, cases, is_put_right=False):
    """(verdict, message) of each case, in their order; a process for each environment."""
    command = installs.decoders(directory, client)
    groups, answers = {}, {}
    for number, case in enumerate(cases):
        groups.setdefault(json.dumps(case.get("env", {}), sort_keys=True), []).append(number)
    for settings, numbers in groups.items():
        # A row's name may be another row's: its place is the one that counts.
        text = "".join(json.dumps(sent(cases[n], client, is_put_right)) + "\n" for n in numbers)
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, **json.loads(settings)})
        lines = done.stdout.splitlines()
        if len(lines) != len(numbers):
            raise SystemExit(f"{client} ended after {len(lines)} of {len(numbers)} resources: {done.stderr[-2000:]}")
        for number, line in zip(numbers, lines):
            said = json.loads(line)
            answers[number] = (said["verdict"], said["message"])
    return [answers[number] for number in range(len(cases))]


def cases():
    """The resources of `fixtures/conformance`, by file and id."""
    return {(file, case["id"]): case for file in FILES for case in rows("conformance/" + file)}


# --- a version beside the others ---------------------------------------------------------------------------------------------

PUT_RIGHT = {"go": "unmasked_verdict", "java": "unmasked_java"}


def write_rows(name, found):
    text = "".join(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n" for row in found)
    with open(os.path.join(FIXTURES, name + ".jsonl.gz"), "wb") as out:
        out.write(gzip.compress(text.encode(), 9, mtime=0))


class Versions:
    """The verdicts of a family by version: `CLIENT.jsonl.gz` has those of one, `CLIENT-versions.jsonl.gz` what differs in others."""

    def __init__(self, family):
        self.family, self.cases, self.known = family, cases(), {}
        for row in rows("clients/" + family):
            self.known[row["file"], row["id"], False] = row["verdict"]
            if PUT_RIGHT[family] in row:
                self.known[row["file"], row["id"], True] = row[PUT_RIGHT[family]]
        self.differing = {(row["file"], row["id"], row.get("unmasked", False)): row["answers"]
                          for row in rows(f"clients/{family}-versions")}
        some = next(iter(self.differing.values()))
        self.versions = sorted(some, key=lambda version: (installs.number(version), not version.endswith("-dev")))
        # Rows whose verdict with names put right is that without, in the newest version alone.
        for key, answers in self.differing.items():
            self.known.setdefault(key, answers[self.versions[-1]])

    def of(self, version):
        """All verdicts of a recorded version."""
        return {key: self.differing.get(key, {}).get(version, verdict) for key, verdict in self.known.items()}

    def ask(self, directory, client):
        """(verdict, message) of a client, asked now."""
        answers = {}
        for is_put_right in (False, True):
            keys = [key for key in self.known if key[2] == is_put_right]
            asked = ask(directory, client, [self.cases[file, name] for file, name, _ in keys], is_put_right)
            answers.update(zip(keys, asked))
        return answers

    def add(self, version, verdicts):
        """Puts the verdicts of a version into the fixture."""
        for key, verdict in verdicts.items():
            if verdict != self.known[key] or key in self.differing:
                there = self.differing.setdefault(key, {other: self.known[key] for other in self.versions})
                there[version] = verdict
        self.versions = sorted({*self.versions, version}, key=lambda one: (installs.number(one), not one.endswith("-dev")))
        write_rows(f"clients/{self.family}-versions", (
            {"file": file, "id": name, **({"unmasked": True} if is_put_right else {}), "answers": {v: answers[v] for v in self.versions}}
            for (file, name, is_put_right), answers in self.differing.items()))
