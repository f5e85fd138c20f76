"""Writes the scripts of a composite action's steps or of a GitLab job: steps.py FILE PREFIX makes PREFIX-0.sh and so on."""

import sys

import yaml

path, prefix = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    document = yaml.safe_load(file)
if "runs" in document:
    scripts = [step["run"] for step in document["runs"]["steps"]]
else:
    scripts = ["\n".join(job["script"]) for job in document.values()]
for number, script in enumerate(scripts):
    with open(f"{prefix}-{number}.sh", "w", encoding="utf-8") as out:
        out.write(script)
