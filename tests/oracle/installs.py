"""Clients at any version, each in a folder of its own: the package from its registry, and the programs that ask it.

A client is `go@1.62.0`, `java@1.63.0`, `node@1.14.1`, `rust@0.1.0-alpha.4`; with `+rls` (`go+rls@1.62.0`) its program brings RLS.
"""
import glob
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "channels")
# What older releases of Go lack: tags that choose other files of a program.
TAGS = [(1, 56), (1, 63)]


def parts(client):
    """`go+rls@1.62.0` -> ("go", "rls", "1.62.0")."""
    found = re.fullmatch(r"(\w+)(?:\+(\w+))?@([\w.-]+)", client)
    if not found:
        raise SystemExit(f"{client}: a client is written as go@1.62.0")
    return found.group(1), found.group(2) or "", found.group(3)


def number(version):
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def run(command, where, **environment):
    subprocess.run(command, cwd=where, check=True, env={**os.environ, **environment})


def put(where, *paths):
    for path in paths:
        shutil.copy(os.path.join(PROGRAMS, path), where)


def install_go(where, extra, version):
    for path in glob.glob(os.path.join(PROGRAMS, "go", "*.go")):
        if os.path.basename(path) != "rls.go" or extra == "rls":  # whose package not every release has
            shutil.copy(path, where)
    with open(os.path.join(where, "go.mod"), "w") as out:
        out.write(f"module channel\n\ngo 1.22\n\nrequire google.golang.org/grpc v{version}\n")
    tags = [f"before_{major}_{minor}" for major, minor in TAGS if number(version) < (major, minor)]
    run(["go", "mod", "tidy"], where)
    run(["go", "build", "-tags", ",".join(tags), "-o", "channel", "."], where)


def install_java(where, extra, version):
    source = os.path.join(where, "src", "main", "java")
    os.makedirs(source, exist_ok=True)
    put(where, "java/pom.xml")
    put(source, "java/Channel.java")
    run(["mvn", "-q", "-B", f"-Dgrpc.version={version}", *([f"-P{extra}"] if extra else []), "compile",
         "dependency:copy-dependencies", "-DincludeScope=runtime"], where)


def install_node(where, extra, version):
    # The newest grpc-js of the same minor, which a project would get.
    minor = ".".join(version.split(".")[:2])
    run(["npm", "install", "--silent", "--prefix", where, f"@grpc/grpc-js-xds@{version}", f"@grpc/grpc-js@~{minor}.0"], where)


def install_rust(where, extra, version):
    shutil.copytree(os.path.join(PROGRAMS, "rust"), where, dirs_exist_ok=True)
    manifest = os.path.join(where, "Cargo.toml")
    with open(manifest) as text:
        changed = re.sub(r'tonic-xds = "=.*"', f'tonic-xds = "={version}"', text.read())
    with open(manifest, "w") as out:
        out.write(changed)
    run(["cargo", "build", "--release", "--quiet"], where)


INSTALLS = {"go": install_go, "java": install_java, "node": install_node, "rust": install_rust}


def folder(directory, client):
    return os.path.join(os.path.abspath(directory), client)


def install(directory, client):
    family, extra, version = parts(client)
    if family not in INSTALLS:
        raise SystemExit(f"{client}: {', '.join(INSTALLS)} can be installed")
    where = folder(directory, client)
    os.makedirs(where, exist_ok=True)
    INSTALLS[family](where, extra, version)


def command(directory, client):
    """What starts the program with one channel."""
    family, _, _ = parts(client)
    where = folder(directory, client)
    classes = f"{where}/target/classes:{where}/target/dependency/*"
    return {"go": [f"{where}/channel"], "java": ["java", "-cp", classes, "Channel"],
            "node": ["node", os.path.join(PROGRAMS, "channel.mjs"), where],
            "rust": [f"{where}/target/release/channel"]}[family]
