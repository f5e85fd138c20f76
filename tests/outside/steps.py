"""Writes the scripts of a composite action's steps: steps.py ACTION PREFIX makes PREFIX-0.sh and so on."""

import sys

import yaml

action, prefix = sys.argv[1:]
with open(action, encoding="utf-8") as file:
    steps = yaml.safe_load(file)["runs"]["steps"]
for number, step in enumerate(steps):
    with open(f"{prefix}-{number}.sh", "w", encoding="utf-8") as out:
        out.write(step["run"])
