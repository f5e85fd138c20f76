"""A kind of fresh scenarios in which aggregate clusters name each other: chains about as deep as clients allow, shared clusters,
ways back, and several roots. See fresh.py.

`w` is a World: what is drawn, and the row in the making.
"""
from fresh_mixed import aggregate, change

LIMIT = 16


def members(w, names, most):
    """Some of these names, each once."""
    return w.chance.sample(names, min(len(names), w.between(1, most)))


def graph(w):
    leaves = [f"l{number}" for number in range(w.between(2, 4))]
    missing = []
    for name in leaves:
        fate = w.one("fine", "fine", "fine", "dead", "missing", "empty")
        if fate == "missing":
            missing.append(name)
        else:
            w.cluster(name, {"fine": w.locals(1), "dead": [w.locality([w.address(is_dead=True)])], "empty": []}[fate])
    depth = w.between(LIMIT - 3, LIMIT + 3)
    chain = [f"h{number:02}" for number in range(depth)]
    others = [f"{w.one('a', 'm', 'z')}{number}" for number in range(w.between(1, 4))]
    made = {}
    for name, below in zip(chain, [*chain[1:], w.one(*leaves)]):
        beside = [w.one(*leaves)] if w.percent(20) else []
        made[name] = w.one([below, *beside], [*beside, below])
    for number, name in enumerate(others):
        # Names that come later lead to no way back.
        below = others if w.percent(15) else others[number + 1:]
        made[name] = members(w, [*leaves, *chain[w.between(0, 6):], *below], 3)
    if w.percent(15):
        made[w.one(*chain)].append(w.one(*chain))
    for name, below in made.items():
        w.put(aggregate(name, list(dict.fromkeys(below))))
    roots = members(w, [*chain[:6], *others, *w.one([], leaves)], 5)
    for number, root in enumerate(roots):
        w.route({"cluster": root}, {"path": f"/r{number}/x"})
    asked = lambda timeout: [w.pick(2, method=f"/r{number}/x", timeout=timeout) for number in range(len(roots))]
    asked(18 if missing else 4)
    for _ in range(w.between(1, 2)):
        name = w.one(*made)
        made[name] = members(w, [*leaves, *chain, *others], 2)
        change(w, aggregate(name, made[name]))
        asked(4)


KINDS = [graph]
