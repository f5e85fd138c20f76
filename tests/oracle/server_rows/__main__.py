"""Prints all rows, or those whose ids begin so: python -m server_rows [BEGINNING...]"""
import json
import sys

from . import ALL


for made in ALL():
    if len(sys.argv) == 1 or made["id"].startswith(tuple(sys.argv[1:])):
        print(json.dumps(made, separators=(",", ":")))
