"""Clients at any version, each in a folder of its own: the package from its registry, and the programs that ask it.

A client is `go@1.62.0`, `java@1.63.0`, `node@1.14.1`, `rust@0.1.0-alpha.4` (or `cpp@1.62.3`, which `others.py` installs); with `+rls` (`go+rls@1.62.0`) its program brings RLS.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "channels")
# What older releases of Go lack: tags that choose other files of a program.
TAGS = [(1, 56), (1, 63)]
RLS = (1, 45)  # the oldest release of Java that asks for its RLS


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


def project_rust(where, version):
    shutil.copytree(os.path.join(PROGRAMS, "rust"), where, dirs_exist_ok=True)
    manifest = os.path.join(where, "Cargo.toml")
    with open(manifest) as text:
        changed = re.sub(r'tonic-xds = "=.*"', f'tonic-xds = "={version}"', text.read())
    with open(manifest, "w") as out:
        out.write(changed)


def install_rust(where, extra, version):
    project_rust(where, version)
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
            "rust": [f"{where}/target/release/channel"],
            "cpp": ["env", f"PYTHONPATH={where}", sys.executable, os.path.join(PROGRAMS, "channel.py")]}[family]


def is_installed(directory, client):
    """Says whether the program is there; the folder may have a server alone."""
    built = {"go": "channel", "java": "target/classes/Channel.class", "node": "node_modules", "rust": "target/release/channel"}
    return os.path.exists(os.path.join(folder(directory, client), built[parts(client)[0]]))


# --- decoders alone --------------------------------------------------------------------------------------------------------


def contents(folder):
    """The text of all Go files of a folder, tests left out."""
    paths = [path for path in glob.glob(os.path.join(folder, "*.go")) if not path.endswith("_test.go")]
    return "".join(open(path).read() for path in sorted(paths))


def decoders_go(where, extra, version):
    """A copy of the module with a program in it, because the packages of the decoders are internal."""
    module = "google.golang.org/grpc"
    run(["go", "mod", "download", f"{module}@v{version}"], where)
    cache = subprocess.run(["go", "env", "GOMODCACHE"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    copy = os.path.join(where, "module")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(os.path.join(cache, f"{module}@v{version}"), copy)
    run(["chmod", "-R", "u+w", copy], where)
    found = lambda *places: next(place for place in places if os.path.isdir(os.path.join(copy, place)))
    client = found("internal/xds/xdsclient", "xds/internal/xdsclient", "xds/internal/client")
    bootstrap = found("internal/xds/bootstrap", f"{client}/bootstrap")
    code = contents(os.path.join(copy, client))
    types = contents(os.path.join(copy, client, "xdsresource"))
    has = lambda way, text, of: way if text in of else ""
    way = (has("newest", "func supportedResourceTypes(", code) or has("by_type", "ResourceTypeMapForTesting", types)
           or has("unversioned", "func UnmarshalListener(resources ", code) or has("versioned", "func UnmarshalListener(version ", code)
           or "unmarshal")
    parser = contents(os.path.join(copy, bootstrap))
    words = {
        "CLIENT": f"{module}/{client}", "BOOTSTRAP": f"{module}/{bootstrap}", "RESOURCE": f"{module}/{client}/xdsresource",
        "INTERNAL": f"{module}/xds/internal",
        "CONFIG": "NewConfigFromContents" if "func NewConfigFromContents(" in parser else "NewConfigFromContentsForTesting",
        "RECOVERS": str("XDSRecoverPanicInResourceParsing" in contents(os.path.join(copy, "internal/envconfig"))).lower(),
        "SERVER": "ServerConfig: config.XDSServers()[0]" if re.search(r"ServerConfig +\*bootstrap", types) else "",
        "QUALIFIER": "xdsresource." if types else "", "PACKAGE": os.path.basename(client),
    }
    for source, target in ((f"decoder_{way}.go", os.path.join(client, "decoder.go")), ("main.go", "xds/decoders/main.go")):
        with open(os.path.join(HERE, "decoders", "go", source)) as text:
            code = re.sub(r"\b(" + "|".join(words) + r")", lambda word: words[word.group(1)], text.read())
        if way == "unmarshal" and types and "decoder.go" in target:
            code = code.replace('\t"strings"\n', f'\t"{words["RESOURCE"]}"\n\t"strings"\n')
        os.makedirs(os.path.dirname(os.path.join(copy, target)), exist_ok=True)
        with open(os.path.join(copy, target), "w") as out:
            out.write(code)
    if extra == "rls":
        put(os.path.join(copy, "xds/decoders"), "go/rls.go")
    run(["go", "build", "-o", os.path.join(where, "decoders"), "./xds/decoders"], copy)
    shutil.rmtree(copy)


def decoders_java(where, _, version):
    """RLS is on the class path: what the client says of its resources is asked, not whether an application brings it."""
    install_java(where, "rls" if number(version) >= RLS else "", version)
    classes = os.path.join(where, "decoders")
    run(["javac", "-nowarn", "-cp", f"{where}/target/dependency/*", "-d", classes, os.path.join(HERE, "decoders", "java", "Decoders.java")], where)


def decoders_rust(where, _, version):
    """A copy of the crate with a function in it, because its resources are private, and a program beside it."""
    if not os.path.exists(os.path.join(where, "Cargo.lock")):
        project_rust(where, version)
        run(["cargo", "fetch", "--quiet"], where)
    home = os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo"))
    source, = glob.glob(os.path.join(home, "registry", "src", "*", f"tonic-xds-{version}"))
    build = os.path.join(where, "decoders.build")
    shutil.rmtree(build, ignore_errors=True)
    shutil.copytree(os.path.join(HERE, "decoders", "rust"), build)
    module = os.path.join(build, "module")
    shutil.copytree(source, module)
    shutil.move(os.path.join(build, "decoder.rs"), os.path.join(module, "src"))
    with open(os.path.join(module, "src", "lib.rs"), "a") as lib:
        lib.write("\npub mod decoder;\n")
    # The dependencies of the program whose channels are asked.
    shutil.copy(os.path.join(where, "Cargo.lock"), build)
    run(["cargo", "build", "--quiet", "--target-dir", os.path.join(build, "target")], build)
    shutil.copy(os.path.join(build, "target", "debug", "decoders"), os.path.join(where, "decoders"))
    shutil.rmtree(build)


# --- readers of bootstraps alone ---------------------------------------------------------------------------------------------

READERS = ("java", "node")


def reader(directory, client):
    """What starts the client's own reader of bootstraps, of which Java's is built when it is asked for first."""
    family, _, _ = parts(client)
    where, source = folder(directory, client), os.path.join(HERE, "readers")
    if family == "node":
        return ["node", os.path.join(source, "bootstraps.mjs"), where]
    classes = os.path.join(where, "reader")
    if not os.path.exists(classes):
        run(["javac", "-nowarn", "-cp", f"{where}/target/dependency/*", "-d", classes, os.path.join(source, "Bootstraps.java")], where)
    return ["java", "-cp", f"{classes}:{where}/target/dependency/*", "Bootstraps"]


DECODERS = {"go": decoders_go, "java": decoders_java, "rust": decoders_rust}


def decoders(directory, client):
    """What starts the decoders of a client, which are built when they are asked for first."""
    family, extra, version = parts(client)
    if family not in DECODERS:
        raise SystemExit(f"{client}: the decoders of {', '.join(DECODERS)} can be asked; others.py asks those of Node")
    # Java's are a client that brings RLS.
    where = folder(directory, f"java+rls@{version}" if family == "java" else client)
    os.makedirs(where, exist_ok=True)
    if not os.path.exists(os.path.join(where, "decoders")):
        DECODERS[family](where, extra, version)
    return {"go": [f"{where}/decoders"], "rust": [f"{where}/decoders"],
            "java": ["java", "-cp", f"{where}/decoders:{where}/target/dependency/*", "Decoders"]}[family]
