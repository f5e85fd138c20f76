#!/usr/bin/env python3
"""Writes ../unknown-to-client.txt: what the reference client's build of the xDS protos does not have.

    pip download grpcio==1.85.1 --no-deps --no-binary :all: && tar xzf grpcio-1.85.1.tar.gz
    pip install protobuf
    ./unknown_to_client.py grpcio-1.85.1

The client's generated parser tables (src/core/ext/upb-gen) hold the number of every field it knows.
"""
import pathlib
import re
import sys

from google.protobuf import descriptor_pb2

HERE = pathlib.Path(__file__).resolve().parent
HEAD = """\
# Messages and fields of proto/xds.binpb that gRPC C-core 1.85.1 was built without (see refresh/unknown_to_client.py).
# To the client they are unknown fields: it never looks into their bytes.
#
#     message: full.message.Name
#     full.message.Name: field field ...

"""

# Parsed by the client as another message of the same shape (xds_common_types_parser.cc).
SAME_SHAPE = {"udpa.type.v1.TypedStruct": "xds.type.v3.TypedStruct"}


def client_tables(source):
    """Full message name -> numbers of the known fields."""
    known = {}
    for path in source.glob("src/core/ext/upb-gen/**/*.upb_minitable.c"):
        text = path.read_text()
        fields = {
            name: {int(n) for n in re.findall(r"^\s*\{(\d+), .*\(int\)kUpb_FieldMode", body, re.M)}
            for name, body in re.findall(r"static const \w+ (\w+)__fields = \{\{(.*?)\n ?\}\}?,?", text, re.S)
        }
        table = r"const upb_MiniTable \w+ = \{\s*(?:&(\w+)__fields\.|NULL).*?UPB_TRACING_ENABLED\s*\"([\w.]+)\""
        for name, full_name in re.findall(table, text, re.S):
            known[full_name] = fields.get(name, set())
    for name, other in SAME_SHAPE.items():
        known[name] = known[other]
    return known


def messages(scope, descriptors):
    for message in descriptors:
        name = f"{scope}.{message.name}"
        yield name, message
        yield from messages(name, message.nested_type)


def main():
    known = client_tables(pathlib.Path(sys.argv[1]))
    binary = (HERE / "../proto/xds.binpb").read_bytes()
    lines = []
    for file in descriptor_pb2.FileDescriptorSet.FromString(binary).file:
        for name, message in messages(file.package, file.message_type):
            if name not in known:
                lines.append(f"message: {name}")
                continue
            unknown = [f.name for f in message.field if f.number not in known[name]]
            if unknown:
                lines.append(f"{name}: {' '.join(unknown)}")
    (HERE / "../unknown-to-client.txt").write_text(HEAD + "\n".join(sorted(lines)) + "\n")


main()
