#!/usr/bin/env python3
"""common.py < scenarios > scenarios: the same worlds in words that every client takes, so that something is left to pick.

Not every client knows the session filter (it becomes optional, its overrides go) or `contains_match` (it becomes string_match).
Long histograms get shorter.
"""
import json
import sys

SESSION = "StatefulSession"
MOST = {"count": 300, "timeout": 5}


def change(value):
    if isinstance(value, list):
        return [change(v) for v in value]
    if not isinstance(value, dict):
        return value
    value = {k: change(v) for k, v in value.items()}
    for one in value.get("http_filters", []):
        if SESSION in json.dumps(one.get("typed_config", {})):
            one["is_optional"] = True
    overrides = value.pop("typed_per_filter_config", {})
    if kept := {k: v for k, v in overrides.items() if SESSION not in json.dumps(v)}:
        value["typed_per_filter_config"] = kept
    if "contains_match" in value:
        value["string_match"] = {"contains": value.pop("contains_match")}
    return value


def say(row):
    """The row in common words, its updates too."""
    steps = [{**step, "update": change(step["update"])} if "update" in step else step for step in row["steps"]]
    return {**row, "resources": change(row["resources"]), "steps": steps}


def main():
    for line in sys.stdin:
        row = say(json.loads(line))
        row.pop("answer", None)
        for step in row["steps"]:
            for name, most in MOST.items():
                if step.get("pick", {}).get(name, 0) > most:
                    step["pick"][name] = most
        print(json.dumps(row))


if __name__ == "__main__":
    main()
