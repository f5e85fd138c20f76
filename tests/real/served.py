"""Opens channels of real clients to `xdsctl serve`, one after the other, and says how an RPC of each ended.

  served.py DIRECTORY BOOTSTRAP URI METHOD CLIENT...

DIRECTORY has the programs of tests/oracle/channels; the client `python` is grpcio's in this environment. The endpoints need not be
there: how the RPC ends is only printed.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "oracle"))

PYTHON = """
import sys, grpc
channel = grpc.insecure_channel(sys.argv[1])
try:
    channel.unary_unary(sys.argv[2])(b"", timeout=5)
    print("OK")
except grpc.RpcError as error:
    print(error.code().name)
"""


def of_python(config, uri, method):
    env = {**os.environ, "GRPC_XDS_BOOTSTRAP_CONFIG": json.dumps(config)}
    ran = subprocess.run([sys.executable, "-c", PYTHON, uri, method], env=env, capture_output=True, text=True, timeout=60)
    return ran.stdout.strip() or ran.stderr[-300:]


def of_program(directory, client, config, uri, method):
    import channels
    import installs
    if installs.parts(client)[0] == "rust":
        # tonic-xds wants a scheme before the server's address, which the others do not take.
        for server in config["xds_servers"]:
            server["server_uri"] = "http://" + server["server_uri"]
    with open(os.devnull, "w") as log:
        env = {"GRPC_XDS_BOOTSTRAP_CONFIG": json.dumps(config)}
        program = channels.Program(installs.command(directory, client), env, log)
        try:
            told = program.say({"uri": uri, "options": []})
            return told.get("error") or program.say({"pick": {"method": method, "timeout": 8}})["code"]
        except channels.Died:
            return "died"
        finally:
            program.end()


directory, bootstrap, uri, method, *clients = sys.argv[1:]
for client in clients:
    with open(bootstrap) as file:
        config = json.load(file)
    code = of_python(config, uri, method) if client == "python" else of_program(directory, client, config, uri, method)
    print(client, code, flush=True)
