#!/usr/bin/env python3
"""Writes ../type-names.txt: the names of all message types of the xDS APIs.

    ./type_names.py data-plane-api xds go-control-plane

The arguments are checkouts of envoyproxy/data-plane-api, cncf/xds and envoyproxy/go-control-plane, which has
what was generated from newer protos. Only messages that stand in no other message count. Names that the list
has already stay: a type that once existed is no misspelling.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
HEAD = """\
# Message types of the xDS APIs, those included that no gRPC client reads (see refresh/type_names.py).
#
#     full.package: Name Name ...

"""
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|[{}]|\bmessage\s+(\w+)", re.S)


def names(text):
    depth = 0
    for token in TOKEN.finditer(text):
        if token[0] in "{}":
            depth += 1 if token[0] == "{" else -1
        elif token[1] and depth == 0:
            yield token[1]


def declared(path):
    """The package of a file, and the messages in it."""
    text = path.read_text()
    if path.suffix == ".proto":
        package = re.search(r"^package ([\w.]+);", text, re.M)
        return package and package[1], names(text)
    source = re.search(r"^// source: (.*)/[^/]*\.proto$", text, re.M)
    # A message in another has both names.
    types = re.findall(r"^func \(x \*([^\W_]+)\) ProtoReflect\(\)", text, re.M)
    return source and source[1].replace("/", "."), types


def main():
    file = HERE / "../type-names.txt"
    packages = {}
    for line in file.read_text().splitlines() if file.exists() else []:
        if line and not line.startswith("#"):
            package, known = line.split(": ")
            packages[package] = set(known.split())
    for root in map(pathlib.Path, sys.argv[1:]):
        for path in [*root.rglob("*.proto"), *root.rglob("*.pb.go")]:
            package, types = declared(path)
            if package and re.match(r"(envoy|xds|udpa)\.", package):
                packages.setdefault(package, set()).update(types)
    lines = [f"{package}: {' '.join(sorted(of))}" for package, of in sorted(packages.items()) if of]
    file.write_text(HEAD + "\n".join(lines) + "\n")


main()
