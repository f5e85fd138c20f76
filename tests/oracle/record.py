#!/usr/bin/env python3
"""Records timelines: what a real gRPC client (grpcio) did in a scenario, and when. See README.md.

  record.py [-j N] [--times N] [--late MS] FILE... > rows.jsonl

A FILE has a scenario a line (also gzipped), or is one in JSON or YAML. A scenario that has been recorded already is recorded
again.
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import sys
import threading
import time

import alone
import timeline
import world

BEAT = 0.005  # seconds between two looks at the clock
ANSWERS = ("answer", "events", "varies", "late_ms")
DECIDED = ("priority", "override_host", "outlier_detection", "retry", "rls")  # what these do is no matter of chance


def mark(event, **what):
    line = f"{timeline.MARK}{json.dumps({'t': time.time(), 'event': event, **what})}\n"
    os.write(2, line.encode())


def brief(step):
    """A step without the resources, which the row has."""
    if "update" in step:
        return {"update": [[r["@type"].rsplit(".", 1)[1], r.get("name") or r.get("cluster_name")] for r in step["update"]]}
    if "remove" in step:
        return {"remove": [[t.rsplit(".", 1)[1], n] for t, n in step["remove"]]}
    return step


class Lateness(threading.Thread):
    """How late this machine wakes who waits for a time: so wrong are the times of a recording."""

    def __init__(self):
        super().__init__(daemon=True)
        self.worst = 0.0

    def run(self):
        while True:
            due = time.monotonic() + BEAT
            time.sleep(BEAT)
            self.worst = max(self.worst, time.monotonic() - due)


def play(row):
    sys.setswitchinterval(0.0005)
    mark("start")
    session = world.Session(row, mark)
    late = Lateness()
    late.start()
    for number, step in enumerate(row["steps"]):
        mark("step", n=number, step=brief(step))
        session.play(step)
    mark("end")
    return {**session.answer(), "late_ms": round(late.worst * 1000)}


def once(row, before, logs):
    scenario = {k: v for k, v in row.items() if k not in ANSWERS}
    command = [*before, sys.executable, __file__, "--child"]
    reply, log = world.run(scenario, command, timeline.TRACE, seconds=1200)
    if logs:
        with open(os.path.join(logs, scenario["id"] + ".log"), "w") as out:
            out.write(log)
    late = reply.pop("late_ms") if reply else 0
    answer = {**(reply or {"crash": True}), **world.lb_configs(log)}
    return {**scenario, "answer": answer, "events": timeline.events(log), "late_ms": late}


def in_time(row, before, limit, logs, tries=4):
    """The least late recording, and no other after one that is in time."""
    made = []
    for _ in range(tries):
        made.append(once(row, before, logs))
        if made[-1]["late_ms"] <= limit:
            break
    best = min(made, key=lambda recording: recording["late_ms"])
    if best["late_ms"] > limit:
        print(f"{row['id']}: {best['late_ms']} ms late at best", file=sys.stderr)
    return best


def streams(recording):
    """Per policy what its instances did, and the fates of the RPCs: what two recordings of a scenario should agree in.

    The network decides in which order connections come, and real time what exactly is left of a timer.
    """
    found, states = {"picks": recording["answer"].get("picks")}, {}
    for event in recording["events"]:
        kind, numbered, _ = event["policy"].partition("#")
        name, what = event["event"], {k: v for k, v in event["what"].items() if k not in ("duration", "ms", "host", "rate")}
        if kind not in DECIDED or (kind == "override_host" and not numbered) or name in ("wrapper_orphaned", "candidate"):
            continue
        if "duration" in event["what"]:
            what["quarters"] = round(float(event["what"]["duration"].rstrip("ms")) / 250)
        key = (event["policy"], what.get("child"))
        if name == "child_state" and states.get(key) == what or name.startswith("pick_"):
            continue
        states[key] = what if name == "child_state" else states.get(key)
        found.setdefault(kind, {}).setdefault(event["policy"], []).append((name, json.dumps(what)))
    return found


def varies(recordings):
    """What differed between recordings of one scenario."""
    all_streams = [streams(recording) for recording in recordings]
    names = dict.fromkeys(name for one in all_streams for name in one)
    return [name for name in names if any(one.get(name) != all_streams[0].get(name) for one in all_streams)]


def record(row, before, times, limit, logs):
    recordings = [in_time(row, before, limit, logs) for _ in range(times)]
    best = min(recordings, key=lambda recording: recording["late_ms"])
    differs = varies(recordings)
    return {**best, **({"varies": differs} if differs else {})}, recordings


def read(path):
    data = open(path, "rb").read()
    text = (gzip.decompress(data) if path.endswith(".gz") else data).decode()
    if path.endswith((".yaml", ".yml")):
        import yaml
        return [yaml.safe_load(text)]
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("-j", dest="at_once", type=int, default=1, help="scenarios at once")
    parser.add_argument("--times", type=int, default=2, help="recordings of each, which say what varies (2)")
    parser.add_argument("--late", type=float, default=20, metavar="MS", help="a recording that is later is made again (20)")
    parser.add_argument("--only", default="", help="the scenarios whose id begins so")
    parser.add_argument("--all", metavar="FILE", help="where all recordings go")
    parser.add_argument("--logs", metavar="DIR", help="where the client's logs go")
    args = parser.parse_args()
    rows = [row for path in args.files for row in read(path) if row["id"].startswith(args.only)]
    alone.seclude()
    before = alone.apart()
    if not before and args.at_once > 1:
        print("no network namespaces here: scenarios at once must have addresses of their own", file=sys.stderr)
    every = open(args.all, "w") if args.all else None

    def ask(row):
        try:
            return record(row, before, args.times, args.late, args.logs)
        except world.NotAsked as why:
            print(f"{row['id']}: not recorded: {why}", file=sys.stderr)

    write = lambda row, out: print(json.dumps(row, separators=(",", ":"), ensure_ascii=False), file=out, flush=True)
    with concurrent.futures.ThreadPoolExecutor(args.at_once) as pool:
        for done in concurrent.futures.as_completed([pool.submit(ask, row) for row in rows]):
            if made := done.result():
                write(made[0], sys.stdout)
                for recording in made[1] if every else ():
                    write(recording, every)


if __name__ == "__main__":
    if sys.argv[1:] == ["--child"]:
        world.child(play)
    main()
