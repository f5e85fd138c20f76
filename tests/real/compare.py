"""Recorded resources for `xdsctl serve --compare`, and the real gRPC client that asks for them.

  compare.py write N DUMP PLAN     the dump to serve, from fixtures/conformance, and what the client has to ask for
  compare.py drive PORT PLAN       the client: asks for everything, batch by batch, and leaves
"""
import base64
import gzip
import itertools
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "oracle"))
RECORDED = os.path.join(HERE, "..", "..", "fixtures", "conformance")
FILES = [f"{name}.jsonl.gz" for name in ("validate", "rules-lds", "rules-rds", "rules-cds-eds", "fresh", "messages")]
OF_THE_MACHINE = "ADR-3/host-dependent-"
AT_ONCE = 500  # more channels, and so streams on one connection, than HTTP/2 servers let in who do not think of it
PATIENCE = 30.0


def rows(name):
    with gzip.open(os.path.join(RECORDED, name), "rt") as lines:
        return [json.loads(line) for line in lines]


def chosen(count):
    """The first recorded resources of different names on which the client has a verdict, with its own switches and bootstrap."""
    from control_plane import KIND
    from google.protobuf import any_pb2
    cases = {}
    for row in itertools.chain.from_iterable(map(rows, FILES)):
        if len(cases) == count:
            break
        if row.get("env") or row.get("bootstrap") or row["id"].startswith(OF_THE_MACHINE):
            continue
        packed = any_pb2.Any.FromString(base64.b64decode(row["any_b64"]))
        if packed.type_url == KIND[row["kind"]] and row["verdict"] in ("ACK", "NACK"):
            cases.setdefault(row["id"], row)
    return list(cases.values())


def write(count, dump, plan):
    from control_plane import KIND
    from resources import entries_of
    cases = chosen(count)
    resources, batches = [], []
    for start in range(0, len(cases), AT_ONCE):
        batch = cases[start:start + AT_ONCE]
        entries, targets = entries_of(batch)
        resources += [packed for _, _, packed in entries]
        batches.append({"targets": targets, "wanted": [[KIND[case["kind"]], case["id"]] for case in batch]})
    with open(dump, "w") as out:
        json.dump({"resources": [{"@type": packed.type_url, "@value": base64.b64encode(packed.value).decode()}
                                 for packed in resources]}, out)
    with open(plan, "w") as out:
        json.dump(batches, out)
    print(f"{len(cases)} recorded resources, {len(resources)} with what leads to them")


def ask(channel):
    """Wakes a channel. An RPC that is over before the channel hears of it would leave it asleep."""
    channel.unary_unary("/real.Probe/Call").future(b"", timeout=PATIENCE)


def drive(port, plan):
    import alone
    import client
    assert alone.is_alone(), "the endpoints of the recorded resources are anywhere"

    class Plane:
        pass

    Plane.port = port
    stub, _keep = client.start(Plane)
    import grpc
    with open(plan) as text:
        batches = json.load(text)
    silent = 0
    stays = grpc.insecure_channel("xds:///nobody")
    ask(stays)
    for batch in batches:
        channels = []
        for target in batch["targets"]:
            channel = grpc.insecure_channel("xds:///" + target)
            ask(channel)
            channels.append(channel)
        wanted, deadline = {tuple(pair) for pair in batch["wanted"]}, time.time() + PATIENCE
        while wanted and time.time() < deadline:
            wanted -= {key for key, (status, _) in client.resources(stub).items() if status in ("ACKED", "NACKED")}
            time.sleep(0.05)
        silent += len(wanted)
        for type_url, name in sorted(wanted):
            print(f"no verdict on {type_url} {name}", flush=True)
        for channel in channels:
            channel.close()
    print(f"asked for everything, {silent} without a verdict")
    sys.stdout.flush()
    os._exit(0)  # grpc's background threads need no farewell


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(int(sys.argv[2]), sys.argv[3], sys.argv[4])
    else:
        drive(int(sys.argv[2]), sys.argv[3])
