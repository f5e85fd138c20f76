#!/usr/bin/env python3
"""A channel of grpcio that is told what to do on standard input, one JSON line each, and answers a line each (see channels.py)."""
import json
import sys

import grpc


def same(x):
    return x


def pick(channel, step):
    try:
        call = channel.unary_unary(step.get("method", "/pkg.Service/Method"), same, same)
        return {"code": "OK", "backend": call(b"", timeout=step.get("timeout", 5)).decode()}
    except grpc.RpcError as error:
        return {"code": error.code().name, "details": error.details()}


def main():
    channel = None
    for line in sys.stdin:
        message = json.loads(line)
        if channel is None:
            channel = grpc.insecure_channel(message["uri"], options=[tuple(option) for option in message["options"]])
            answer = {"client": f"grpcio {grpc.__version__}"}
        else:
            answer = pick(channel, message["pick"]) if "pick" in message else {"error": "unknown step"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
