"""xDS servers of gRPC C-core: one is started or stopped by each line of JSON on standard input, as those of Go (servers/go).

The Python API does not tell the mode of a server; its log does. With `grpcio` before 1.60 there is no log of it.
"""
import concurrent.futures
import json
import os
import sys
import time

import grpc


class Handlers(grpc.GenericRpcHandler):
    """Unary methods that answer with nothing, after the seconds that the header x-hold asks for."""

    METHODS = {"/pkg.Service/Method", "/pkg.Service/Other", "/admin.Console/Delete"}

    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(self.answer) if details.method in self.METHODS else None

    @staticmethod
    def answer(message, context):
        for name, value in context.invocation_metadata():
            if name == "x-hold":
                time.sleep(float(value))
        return message


def start(told):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), handlers=[Handlers()], xds=True,
                         options=[("grpc.so_reuseport", 0), *told.get("options", [])])
    if told.get("credentials") == "xds":
        server.add_secure_port(told["listen"], grpc.xds_server_credentials(grpc.insecure_server_credentials()))
    else:
        server.add_insecure_port(told["listen"])
    server.start()
    return server


def main():
    last = None
    for line in sys.stdin:
        told = json.loads(line)
        if last:
            last.stop(0).wait()
            last = None
        if not told.get("stop"):
            try:
                last = start(told)
                said = {"mode": "STARTED", "words": ""}
            except Exception as why:
                said = {"mode": "ENDED", "words": str(why)}
        else:
            said = {"mode": "STOPPED", "words": ""}
        print(json.dumps({**said, "tag": told.get("tag", 0)}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
