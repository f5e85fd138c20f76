"""Real channels of any client: a program with one channel, which is told what to do, and the servers of a row beside it.

The programs are in `channels/`, ordinary ones with ordinary dependencies. They speak JSON, one line in and one line out:

  {"uri", "options": [[name, value]]}, once, first                   {"client": its name and version} or {"error"}
  {"pick": {"method", "headers", "timeout", "wait_for_ready"}}       {"code", "backend", "details", "set_cookie", "seconds"}
  {"begin": the same with "count", "name"}                           {}
  {"finish": name}                                                   a list of answers
"""
import json
import os
import queue
import subprocess
import tempfile
import threading
import time

import world
from client import bootstrap

PATIENCE = 60  # seconds for one answer
COLD = 8  # seconds that the first call of a client may take
QUICK = {2: 0.5, 3: 0.5}  # seconds for a call after so many late ones with nothing changed since; then 0.1
CHANGES = {"update", "remove", "stop", "start", "drop", "silence", "speak", "sleep", "at"}
LOUD = {"go": {"GRPC_GO_LOG_SEVERITY_LEVEL": "info", "GRPC_GO_LOG_VERBOSITY_LEVEL": "99"}, "java": {"VERBOSE": "1"},
        "node": {"GRPC_VERBOSITY": "DEBUG", "GRPC_TRACE": "all"}, "rust": {"RUST_LOG": "debug"}}


class Died(Exception):
    """The program has ended, or says nothing any more."""


class Program:
    """The client: one line in, one line out."""

    def __init__(self, command, env, log):
        self.process = subprocess.Popen(command, env={**os.environ, **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=log, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def say(self, message, patience=PATIENCE):
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
            line = self.lines.get(timeout=patience)
        except (OSError, queue.Empty):
            raise Died
        if line is None:
            raise Died
        return json.loads(line)

    def end(self):
        self.process.kill()
        self.process.wait()


class Channel(world.Servers):
    """A channel of a program, and its servers."""

    def __init__(self, row):
        super().__init__(row)
        self.late, self.is_cold = 0, True

    def pick(self, program, step):
        """One RPC after the other."""
        import backend
        results = []
        for _ in range(step.get("count", 1)):
            call = {**step, "timeout": step.get("timeout", 5)}
            if self.is_cold:  # a cold start takes its time
                call["timeout"] = max(COLD, call["timeout"])
            elif self.late >= 2:  # nothing has changed: no need to wait as long again
                call["timeout"] = min(QUICK.get(self.late, 0.1), call["timeout"])
            before, began, self.is_cold = len(backend.hits), time.time(), False
            result = program.say({"pick": call})
            self.late = self.late + 1 if result["code"] == "DEADLINE_EXCEEDED" else 0
            result["attempts"] = backend.hits[before:]
            if step.get("timed"):
                result["attempt_s"] = [round(told["time"] - began, 3) for told in backend.told[before:]]
            for name in step.get("tells", []):
                result[name] = [told[name] for told in backend.told[before:]]
            results.append(brief(result, step))
        return results

    def steps(self, program, steps):
        """Yields the results of each step `pick` or `finish`."""
        begun = {}
        for step in steps:
            self.began = self.began or time.monotonic()
            (verb, what), = step.items()
            self.late = 0 if verb in CHANGES else self.late
            if verb in ("pick", "begin") and "rate" in what:
                raise world.NotAsked("RPCs at a rate are for the client of this process")
            if verb == "pick":
                yield self.pick(program, what)
            elif verb == "begin":
                begun[what["name"]] = what
                program.say({"begin": what, "name": what["name"]})
                time.sleep(what.get("settle", 0.3))
            elif verb == "finish":
                yield [brief(result, begun[what]) for result in program.say({"finish": what})]
            else:
                self.play(verb, what)


def brief(result, step):
    """How long an RPC took is chance, unless the step asks for it or a timer is in it."""
    seconds = result.pop("seconds", 0)
    if step.get("timed"):
        result["seconds"] = round(seconds, 3)
    elif seconds >= 0.1:
        result["seconds"] = round(seconds, 1)
    return world.without_nothing(result)


def settings(row, port, family):
    """The environment of the program; tonic-xds wants a scheme before a server's address."""
    config = bootstrap(port, row.get("bootstrap", {}))
    if family == "rust":
        config["xds_servers"][0]["server_uri"] = f"http://127.0.0.1:{port}"
    return {**row.get("env", {}), "GRPC_XDS_BOOTSTRAP_CONFIG": json.dumps(config)}


def ask(row, family, command, is_loud=False):
    """What a channel of the program answers to a row: {"id", "client", "picks", "nacks", "died", "words", "log"}."""
    import lookups
    channel, answer = Channel(row), {"id": row["id"], "picks": []}
    options = [["grpc.default_authority", row["authority"]]] if "authority" in row else []
    env = {**(LOUD.get(family, {}) if is_loud else {}), **settings(row, channel.plane.port, family)}
    with tempfile.TemporaryFile() as log:
        program = Program(command, env, log)
        try:
            uri = row.get("uri") or "xds:///" + row["target"]
            answer.update(program.say({"uri": uri, "options": options + row.get("channel_args", [])}))
            if "error" not in answer:
                for results in channel.steps(program, row.get("steps", [])):
                    answer["picks"].append(results)
        except Died:
            answer["died"] = True
        finally:
            program.end()
            channel.close()
        log.seek(0)
        words = log.read().decode(errors="replace")
    told = {"nacks": channel.plane.nacks, "lookups": list(lookups.asked), "words": words[-1500:] if "died" in answer else "",
            "log": words if is_loud else ""}
    return {**answer, **world.without_nothing(told)}
