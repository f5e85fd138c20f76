"""Every JSON answer against its schema in docs/schemas/, made strict: a field that the schema does not name is a fault."""

import gzip
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import yaml
from jsonschema import Draft202012Validator

SCHEMAS = pathlib.Path("docs/schemas")


def close(schema):
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("type") == "object":
            schema["additionalProperties"] = False
        for value in schema.values():
            close(value)
    elif isinstance(schema, list):
        for value in schema:
            close(value)


def load(name):
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    close(schema)
    return Draft202012Validator(schema)


VALIDATORS = {path.stem: load(path.stem) for path in SCHEMAS.glob("*.json")}


def printed(args):
    return subprocess.run(["xdsctl", *args.split()], capture_output=True, check=False).stdout.decode()


FAULTS = []


def check(name, text, what):
    faults = VALIDATORS[name].iter_errors(json.loads(text))
    FAULTS.extend(f"{what}: {fault.json_path} {fault.message[:200]}" for fault in itertools.islice(faults, 3))


folders = ("dumps", "examples", "tree")
documents = sorted(
    path
    for folder in folders
    for path in pathlib.Path("fixtures", folder).iterdir()
    if path.is_file() and path.suffix not in (".out", ".md")
)
assert len(documents) > 50, documents
# In a few runs of many files: each is a document of its own.
files = " ".join(map(str, documents))
for more in ("", "--show parsed", "--client cpp,go,java", "--explain-suppressed --min-severity error"):
    check("findings", printed(f"validate --format json {more} {files}"), f"validate {more}")
lines = printed(f"validate --format jsonl --min-severity note {files}").splitlines()
assert len(lines) >= len(documents), len(lines)
for line in lines:
    check("verdict", line, "validate --format jsonl")

E = "fixtures/examples/checkout.yaml"
HOSTS = "fixtures/tree/hosts.yaml"
PAY = "--method /shop.Checkout/Pay"
for name, args in (
    ("rules", "explain --list --format json"),
    ("rules", "explain --format json cds-lb-policy-unsupported"),
    ("told", "explain --format json [field:lb_policy error:LB policy is not supported]"),
    ("told", "explain --format json [field:no.such.field error:nobody says this]"),
    ("address", f"pick --address 10.0.0.2:8080 --format json {E}"),
    ("tree", f"tree --format json {E}"),
    ("tree", f"tree --format json {HOSTS}"),
    ("route", f"route {PAY} --header tier=gold --format json {E}"),
    ("route", f"route {PAY} --format json {E}"),
    ("route", f"route --method /none/none --format json {E}"),
    ("route", f"route --format json {HOSTS}"),
    ("route", "route --format json fixtures/tree/weighted.yaml"),
    ("retry", f"retry {PAY} --format json {E}"),
    ("retry", f"retry {PAY} --script UNAVAILABLE,OK --format json {E}"),
    ("retry", f"retry --format json {HOSTS}"),
    ("retry", "retry --format json --retry-on unavailable,5xx --base-interval 0"),
    ("pick", f"pick {PAY} --session 10.0.0.2:8080 --format json {E}"),
    ("pick", f"pick {PAY} --count 20 --format json {E}"),
    ("pick", f"pick --method /none/none --format json {E}"),
    ("pick", f"pick {PAY} --max-events 3 --format json {E}"),
    ("pick", f"pick --requests fixtures/examples/drain.jsonl --format json {E}"),
    ("several", f"pick {PAY} --client cpp,go,cpp@1.56 --format json {E}"),
    ("several", f"route {PAY} --client cpp,java --format json {E}"),
    ("several", f"retry {PAY} --client go,java --format json {E}"),
    ("several", f"tree --client cpp,java --format json {E}"),
    ("test", "test --format json fixtures/suites"),
    ("test", "test --coverage --format json fixtures/suites/nack.yaml"),
    ("cookie", "cookie decode --format json cart=MTAuMC4wLjI6ODA4MDtjaGVja291dA=="),
    ("cookie", "cookie decode --format json MTAuMC4wLjI6ODA4MA=="),
    ("diff", f"diff --format json {E} fixtures/examples/checkout-next.yaml"),
    ("diff", f"diff --format json {E} fixtures/examples/shop.yaml"),
    ("diff", f"diff --format json --client cpp,go,java@1.75,node {E} fixtures/examples/fleet.yaml"),
    ("who", f"who --format json near {E}"),
    ("who", "who --format json fast fixtures/examples/checkout-next.yaml"),
):
    check(name, printed(args), args)

good = json.loads(printed("validate --format json fixtures/examples/shop.yaml"))
for change in (
    lambda v: v["resources"][1]["findings"][0].update(severity="bad"),
    lambda v: v["resources"][1]["findings"][0].update(new=1),
    lambda v: v["summary"].pop("rules"),
):
    bad = json.loads(json.dumps(good))
    change(bad)
    assert not VALIDATORS["findings"].is_valid(bad), "the validator finds no fault"

for line in printed("simulate --run gone --format jsonl fixtures/suites/drain.yaml").splitlines():
    check("event", line, "simulate --format jsonl")
if FAULTS:
    sys.exit("\n".join(FAULTS[:20]))

# Suites, and what is none.
SUITE = Draft202012Validator(json.loads(pathlib.Path("crates/suite/scenario.json").read_text(encoding="utf-8")))
suites = sorted(pathlib.Path("fixtures/suites").glob("*.yaml"))
assert len(suites) >= 8, suites
for path in suites:
    suite = yaml.safe_load(path.read_text(encoding="utf-8"))
    faults = [f"{path}: {fault.json_path} {fault.message[:200]}" for fault in SUITE.iter_errors(suite)]
    if faults:
        sys.exit("\n".join(faults[:5]))
with tempfile.TemporaryDirectory() as directory:
    log = pathlib.Path(directory, "client.log")
    log.write_bytes(gzip.decompress(pathlib.Path("fixtures/captures/shop.log.gz").read_bytes()))
    for args in (f"test --record {log}", "test --init fixtures/suites/world/shop.yaml", f"test --init {E} {HOSTS}"):
        faults = [f"{args}: {fault.json_path} {fault.message[:200]}" for fault in SUITE.iter_errors(yaml.safe_load(printed(args)))]
        if faults:
            sys.exit("\n".join(faults[:5]))
WORLD = "world: fixtures/suites/world/shop.yaml\n"
for text in (
    "steps: []",
    "step: [{sleep: 1}]",
    "steps: [{pik: {}}]",
    "steps: [{sleep: -1}]",
    "steps: [{pick: {metod: /a/b}}]",
    "steps: [{pick: {rate: 0}}]",
    "steps: [{pick: {}, expect: {adress: 10.0.0.1:80}}]",
    "steps: [{pick: {}, expect: {status: GOOD}}]",
    "steps: [{sleep: 1, expect: {priority: {a: -1}}}]",
    "steps: [{pick: {}, expect: {tolerance: 1%}}]",
    "never: {shares: {a: 1%}}\nsteps: [{sleep: 1}]",
    "tests: [{steps: [{sleep: 1}]}]",
    "backends: {default: {share: 1%}}\nsteps: [{sleep: 1}]",
    "backends: {default: {reach: never}}\nsteps: [{sleep: 1}]",
):
    suite = yaml.safe_load(WORLD + text)
    assert not SUITE.is_valid(suite), text
    # The command finds the same.
    done = subprocess.run(["xdsctl", "test", "-"], input=WORLD + text, capture_output=True, check=False, encoding="utf-8")
    assert done.returncode == 2, (text, done)
