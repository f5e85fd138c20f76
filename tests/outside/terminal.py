"""Runs xdsctl on a terminal of 57 columns, with names that hold control characters, and looks at what comes out of it."""

import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import fcntl
import termios
import unicodedata

COLUMNS = 57


def run(*args, typed=b"", columns=COLUMNS):
    """What the terminal gets, and the exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        os.execvpe("xdsctl", ["xdsctl", *args], {**env, "TERM": "xterm"})
    if typed:
        os.write(terminal, typed)
    out = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    _, status = os.waitpid(pid, 0)
    return out.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(status)


def cluster(name):
    return {
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        "name": name,
        "type": "EDS",
        "eds_cluster_config": {"eds_config": {"ads": {}}},
        "lb_policy": "MAGLEV",
    }


def check(what, is_true):
    if not is_true:
        sys.exit(what)


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    for number in range(9):
        with open(f"f{number}.json", "w", encoding="utf-8") as file:
            json.dump([cluster(f"{number}-{n}") for n in range(20)], file)
    with open("g\x1b[31m\u202e.json", "w", encoding="utf-8") as file:
        json.dump(cluster("a\x1b]0;title\x07\u202eb\x9b2J"), file)

    out, code = run("validate", ".")
    check(f"exit code {code}", code == 1)
    styles = re.compile(r"\x1b\[[0-9;]*m")
    check("no colours", styles.search(out))
    plain = styles.sub("", out)
    bad = {c for c in plain if c != "\n" and unicodedata.category(c) in ("Cc", "Cf")}
    check(f"control characters: {bad}", not bad)
    wide = [line for line in plain.split("\n") if len(line) > COLUMNS]
    check(f"wider than the terminal: {wide}", not wide)
    marked = [line for line in plain.split("\n") if "MAGLEV\"" in line]
    check("no snippets", marked and all(len(line) > COLUMNS - 10 for line in marked))
    for number in range(9):
        check(f"f{number}.json is not named", f"f{number}.json" in plain)
    check("nothing says how to lift the cap", "--all-findings shows every one" in " ".join(plain.split()))
    shown = lambda text: text.count("must be")
    check("not capped", shown(plain) < 20)
    check("--all is capped", shown(run("validate", "--all", ".")[0]) == 181)

    typed = json.dumps(cluster("typed")).encode() + b"\n\x04"
    out, code = run("validate", typed=typed)
    check("standard input is read without a word", "xdsctl: reading standard input" in out)
    check(f"exit code {code}", code == 1)

    # A terminal that does not know its size: nothing is wrapped.
    unknown, _ = run("validate", "f0.json", columns=0)
    check("wrapped at a guess", max(map(len, styles.sub("", unknown).split("\n"))) > 120)

    # The other commands keep to the width too, at words: the lines are those of a pipe.
    name = "a-" * 40 + "z"
    route = {
        "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
        "name": "routes of a name with several words in it, which is long",
        "virtual_hosts": [{"domains": ["*"], "routes": [{"match": {"prefix": ""}, "route": {"cluster": name}}]}],
    }
    eds = {
        "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
        "cluster_name": name,
        "endpoints": [
            {
                "locality": {"zone": "z"},
                "load_balancing_weight": 1,
                "lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": 1}}}}],
            }
        ],
    }
    good = {key: value for key, value in cluster(name).items() if key != "lb_policy"}
    for file, resources in (("one", [route, good, eds]), ("two", [route, cluster(name), eds])):
        with open(f"{file}.json", "w", encoding="utf-8") as out_file:
            json.dump({"resources": resources}, out_file)
    commands = (
        ("diff", "one.json", "two.json"),
        ("who", name, "two.json"),
        ("pick", "--route-config", route["name"], "--method", "/a/b", "one.json"),
        ("route", "--route-config", route["name"], "--method", "/a/b", "one.json"),
    )
    for command in commands:
        plain = styles.sub("", run(*command)[0])
        wide = [line for line in plain.split("\n") if len(line) > COLUMNS and len(line.split()) > 1]
        check(f"{command[0]}, wider than the terminal: {wide}", not wide)
        piped = subprocess.run(["xdsctl", *command], capture_output=True, text=True, check=False)
        said = piped.stdout + piped.stderr
        check(f"{command[0]} says something else: {plain}\n{said}", sorted(plain.split()) == sorted(said.split()))
        check(f"{command[0]} is wrapped in a pipe", any(len(line) > COLUMNS for line in said.split("\n")))
