"""One world in a real client: resources in, the fate of RPCs and the generated LB configs out.

Each world has a process of its own, because the environment and the xDS client are process-wide, and because some
worlds kill their client.
"""
import json
import math
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

TRACERS = "cds_lb,xds_resolver,xds_wrr_locality_lb"


class NotAsked(Exception):
    """The world could not be put to the client: not JSON of the message, or a port in use."""


def run(row, command, trace, seconds=300):
    """What the process of a world says, or nothing if it died, and its log."""
    with tempfile.TemporaryFile("w+") as log:
        env = {**os.environ, "GRPC_VERBOSITY": "debug", "GRPC_TRACE": trace, "TZ": "UTC", **row.get("env", {}),
               "ORACLE_BOOTSTRAP": json.dumps(row.get("bootstrap", {}))}
        try:
            child = subprocess.run(command, input=json.dumps(row), stdout=subprocess.PIPE, stderr=log, text=True, env=env,
                                   timeout=seconds)
            reply, code = child.stdout, child.returncode
        except subprocess.TimeoutExpired:
            reply, code = "", 2
        log.seek(0)
        text = log.read()
    if not reply.strip() and code > 0:
        raise NotAsked(text[-1000:])
    return json.loads(reply) if reply.strip() else None, text


def ask(row):
    """A row with its answer."""
    reply, log = run(row, [sys.executable, __file__], row.get("trace", TRACERS))
    return {**row, "answer": {**(reply or {"crash": True}), **lb_configs(log)}}


def lb_configs(log):
    """What the client generated: the service config and, per cluster, the newest child config of its cds policy."""
    service_config, names, children = None, {}, {}
    pattern = (r"generated service config: (?=\{)|\[cdslb (\w+)\] received update: cluster=(.*?) is_dynamic"
               r"|\[cdslb (\w+)\] generated config for child policy: (?=\[)")
    for found in re.finditer(pattern, log):
        if found.group(1):
            names[found.group(1)] = found.group(2)
            continue
        try:
            config = json.JSONDecoder().raw_decode(log, found.end())[0]
        except ValueError:
            continue  # the client's JSON is none, or another thread wrote into it
        if found.group(3):
            children[names.get(found.group(3), "?")] = config
        else:
            service_config = config
    return {"service_config": service_config, "cds_children": children}


# --- inside the process of a world ----------------------------------------------------------------


def headers(step):
    return [(k, v.encode() if k.endswith("-bin") else v) for k, v in step.get("headers") or []]


def cookies(metadata):
    return [v for k, v in metadata or () if k == "set-cookie"]


def without_nothing(result):
    """Lists and texts that are empty say nothing."""
    return {k: v for k, v in result.items() if v not in ([], "")}


def silence(address):
    """A socket that takes connections and never speaks."""
    host, port = address.rsplit(":", 1)
    quiet = socket.socket()
    quiet.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    quiet.bind((host, int(port)))
    quiet.listen(64)
    return quiet


class Servers:
    """The control plane, the backends and the other servers of a row; `mark` hears of what happens there, and when."""

    def __init__(self, row, mark=lambda event, **what: None):
        import backend
        import control_plane
        import lookups
        from control_plane import NAME_FIELD, pack
        self.entries = lambda resources: [(r["@type"], r[NAME_FIELD[r["@type"]]], pack(r)) for r in resources]
        first = self.entries(row["resources"])
        self.mark, self.began = mark, None
        self.plane = control_plane.ControlPlane(32)
        backend.forget()
        lookups.asked.clear()
        backend.orca.update(row.get("orca", {}))
        backend.scripts.update(row.get("scripts", {}))
        backend.out_of_band.update(row.get("out_of_band", {}))
        lookups.answers[:] = row.get("lookups", [])
        self.backends = {a: backend.start(a, mark) for a in row.get("backends", [])}
        self.lookups = {a: lookups.start(a, mark) for a in [row.get("lookup_service")] if a}
        self.silent = {a: silence(a) for a in row.get("silent", [])}
        self.unprocessed = []
        if "unprocessed" in row:
            import unprocessed
            self.unprocessed = [unprocessed.start(a, script) for a, script in row["unprocessed"].items()]
        self.plane.set(first)

    def play(self, verb, what):
        """A step that concerns the servers."""
        import backend
        import lookups
        addresses = what if isinstance(what, list) else [what]
        if verb == "orca":
            backend.orca.update(what)
        elif verb == "backend":
            backend.scripts.update(what)
        elif verb == "lookups":
            lookups.answers[:] = what
        elif verb == "update":
            self.plane.set(self.entries(what))
        elif verb == "remove":
            self.plane.set([(t, n, None) for t, n in what])
        elif verb == "sleep":
            time.sleep(what)
        elif verb == "at":
            time.sleep(max(0, self.began + what - time.monotonic()))
        elif verb in ("stop", "drop", "start", "silence", "speak"):
            for address in addresses:
                self.turn(verb, address)
        else:
            raise NotAsked(f"a step that the recorder does not know: {verb}")

    def turn(self, verb, address):
        import backend
        import lookups
        servers, start = (self.lookups, lookups.start) if address in self.lookups else (self.backends, backend.start)
        if verb in ("stop", "drop"):
            servers[address].stop(0).wait()
        if verb in ("start", "drop"):
            servers[address] = start(address, self.mark)
        if verb == "silence":
            self.silent[address] = silence(address)
        if verb == "speak":
            self.silent.pop(address).close()

    def close(self):
        for server in [*self.backends.values(), *self.lookups.values(), self.plane.server]:
            server.stop(0).wait()
        for listener in [*self.silent.values(), *self.unprocessed]:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()


class Session(Servers):
    """A channel of this process, and its servers."""

    def __init__(self, row, mark=lambda event, **what: None):
        super().__init__(row, mark)
        import client
        self.stub, self.keep = client.start(self.plane)
        import grpc
        self.under_way, self.picks, self.asked = {}, [], []
        options = [("grpc.default_authority", row["authority"])] if "authority" in row else []
        options += [tuple(o) for o in row.get("channel_args", [])]
        self.channel = grpc.insecure_channel(row.get("uri") or "xds:///" + row["target"], options=options)

    def call(self, step):
        call = self.channel.unary_unary(step.get("method") or "/pkg.Service/Method")
        return call.future(b"", timeout=step.get("timeout", 5), metadata=headers(step), wait_for_ready=step.get("wait_for_ready"))

    def pick(self, step):
        """One RPC after the other."""
        import backend
        import grpc
        results = []
        for _ in range(step.get("count", 1)):
            before, began = len(backend.hits), time.time()
            self.mark("rpc", headers=step.get("headers", []))
            call = self.channel.unary_unary(step.get("method") or "/pkg.Service/Method")
            try:
                reply, done = call.with_call(b"", timeout=step.get("timeout", 5), metadata=headers(step),
                                             wait_for_ready=step.get("wait_for_ready"))
                result = {"code": "OK", "backend": reply.decode(), "set_cookie": cookies(done.initial_metadata())}
            except grpc.RpcError as error:
                result = {"code": error.code().name, "details": error.details(),
                          "set_cookie": cookies(error.initial_metadata()),
                          "set_cookie_trailing": cookies(error.trailing_metadata())}
            except (ValueError, UnicodeError) as error:  # what is thrown out of the call, the application gets
                result = {"code": "THROWN", "details": str(error)}
            if not self.under_way:  # whose attempts would be among them
                result["attempts"] = backend.hits[before:]
            for name in step.get("tells", []):
                result[name] = [told[name] for told in backend.told[before:]]
            if step.get("timed"):
                result["seconds"] = round(time.time() - began, 3)
            results.append(without_nothing(result))
            said = {k: results[-1][k] for k in ("backend", "set_cookie") if k in results[-1]}
            self.mark("rpc_done", code=result["code"], **said)
        return results

    def at_a_rate(self, step, calls):
        """RPCs at a rate, none waiting for the one before."""
        count = step["count"] if "count" in step else math.ceil(step["for"] * step["rate"])
        began = time.monotonic()
        for number in range(count):
            time.sleep(max(0, began + number / step["rate"] - time.monotonic()))
            calls.append(self.call(step))

    def begin(self, step):
        """Starts calls without waiting for them."""
        calls, sender = [], None
        if "rate" in step:
            sender = threading.Thread(target=self.at_a_rate, args=(step, calls), daemon=True)
            sender.start()
        else:
            calls += [self.call(step) for _ in range(step.get("count", 1))]
            time.sleep(step.get("settle", 0.3))
        self.under_way[step["name"]] = (step, calls, sender)

    def finish(self, name):
        step, calls, sender = self.under_way.pop(name)
        if sender:
            sender.join()
        results = []
        for call in calls:
            try:
                result = {"code": "OK", "backend": call.result().decode(), "set_cookie": cookies(call.initial_metadata())}
            except Exception:
                result = {"code": call.code().name, "details": call.details()}
            results.append(without_nothing(result))
        return counted(results) if "rate" in step else results

    def play(self, step):
        import lookups
        self.began = self.began or time.monotonic()
        (verb, what), = step.items()
        if verb == "pick" and "rate" in what:
            calls = []
            self.at_a_rate(what, calls)
            self.under_way[""] = (what, calls, None)
            self.picks.append(self.finish(""))
        elif verb == "pick":
            self.picks.append(self.pick(what))
        elif verb == "begin":
            self.begin(what)
        elif verb == "finish":
            self.picks.append(self.finish(what))
        else:
            super().play(verb, what)
        self.asked.append(len(lookups.asked))

    def answer(self):
        import backend
        import client
        import lookups
        status = {f"{t.rsplit('.', 1)[-1]}/{n}": without_nothing({"status": s, "details": d})
                  for (t, n), (s, d) in client.resources(self.stub).items()}
        answer = {"picks": self.picks, "resources": status}
        if self.lookups:
            answer.update(lookups=lookups.asked, asked=self.asked)
        if backend.out_of_band:
            answer["streams"] = backend.streams
        return answer


def counted(results):
    """How many RPCs had each fate: where all went, or the code and words of a failure."""
    fates = {}
    for result in results:
        fate = result.get("backend") or f"{result['code']}: {result['details']}"
        fates[fate] = fates.get(fate, 0) + 1
    return {"histogram": dict(sorted(fates.items()))}


def play(row):
    session = Session(row)
    for step in row.get("steps", []):
        session.play(step)
    return session.answer()


def child(play):
    """The process of a world: a row comes in, what `play` makes of it goes out."""
    try:
        json.dump(play(json.load(sys.stdin)), sys.stdout)
        sys.stdout.flush()
        os._exit(0)  # grpc's background threads need no farewell
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


if __name__ == "__main__":
    child(play)
