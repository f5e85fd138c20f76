"""Where real clients run: with a loopback interface and nothing else, because they connect to whatever endpoints they are given."""
import concurrent.futures
import json
import os
import queue
import shutil
import socket
import subprocess
import sys

ELSEWHERE = [(socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")]  # documentation addresses, RFC 5737 and RFC 3849


def is_alone():
    """Says whether there is no way to any other machine. Nothing is sent to find out."""
    for family, address in ELSEWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as looked:
                looked.connect((address, 9))
            return False
        except OSError:
            pass
    return True


def apart():
    """A command in front of another that gives it a loopback interface of its own; nothing where there is none to have."""
    for unshare in (["unshare", "-n"], ["unshare", "-rn"]):
        if shutil.which("unshare") and shutil.which("ip") and not subprocess.run([*unshare, "true"], capture_output=True).returncode:
            return [*unshare, "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    return []


def seclude():
    """Starts this program again in a network namespace of its own, unless it is in one."""
    if is_alone():
        return
    before = apart()
    if not before:
        sys.exit("a real client would connect to the endpoints that it is given: run this in a network namespace (unshare -n), "
                 "this machine gives none")
    command = [*before, sys.executable, *sys.argv]
    os.execvp(command[0], command)


def asked(command, rows, at_once):
    """The answers to rows, in their order, of so many processes: each reads a row a line and writes an answer a line."""
    free = queue.Queue()
    for _ in range(at_once):
        free.put(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))

    def ask(row):
        process = free.get()
        process.stdin.write(json.dumps(row) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        free.put(process)
        return json.loads(line)

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        yield from pool.map(ask, rows)
    while not free.empty():
        free.get().stdin.close()
