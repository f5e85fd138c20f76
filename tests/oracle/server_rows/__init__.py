"""Rows of servers: what is asked of every family and version. `build.py` has the words, the other files have tables."""


def ALL():
    from . import chains, rbac, routes, tls, updates
    seen = set()
    for table in (chains, tls, rbac, routes, updates):
        for made in table.rows():
            if made["id"] in seen:
                raise ValueError(f"two rows are named {made['id']}")
            seen.add(made["id"])
            yield made
