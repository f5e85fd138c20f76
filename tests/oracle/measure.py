"""A version of a client beside the newest one that is recorded: verdicts on resources, and channels."""
import collections
import glob
import os
import re

import installs
import verdicts

LIVE = os.path.join(verdicts.FIXTURES, "clients", "live")
QUESTIONS = ("common", "timelines")
TRIES = 3  # recordings of a row until each of its RPCs has had the recorded fate
MANY = 100  # RPCs of a row from which on their shares are compared
SPREADS = 4  # standard deviations that a share may differ by chance


def newest_live(family, questions):
    """The newest version whose channels are recorded."""
    names = [os.path.basename(path) for path in glob.glob(os.path.join(LIVE, f"{family}@*-{questions}.jsonl.gz"))]
    versions = [re.fullmatch(rf"{family}@(.*)-{questions}.jsonl.gz", name).group(1) for name in names]
    return max(versions, key=installs.number)


def fates(answer):
    """What became of each RPC: its code, backend, number of attempts, and whether it got a cookie."""
    return [(pick["code"], pick.get("backend"), len(pick.get("attempts", [])), bool(pick.get("set_cookie")))
            for step in answer["picks"] for pick in step]


def difference(recorded, answers):
    """What no recording of a row has as it was recorded, and whether it is new: the same fate in each of them, which no RPC of the row had. Nothing if each RPC had
    its fate in one of the recordings, or if the fates of many have the shares that they had."""
    wanted, got = fates(recorded), [fates(answer) for answer in answers]
    if bool(recorded.get("died")) != bool(answers[-1].get("died")):
        return ("the process died" if answers[-1].get("died") else "the process lives"), True
    if len(wanted) >= MANY:
        return share_difference(wanted, [fate for one in got for fate in one])
    for number, fate in enumerate(wanted):
        now = [one[number] if number < len(one) else None for one in got]
        if fate not in now:
            last = now[-1] or ("no answer",)
            places = set(map(place, now))
            is_new = len(places) == 1 and not places & set(map(place, wanted))
            return f"RPC {number}: {shown(fate)}, now {shown(last)}", is_new
    return None


def place(fate):
    """Where an RPC went, or how it failed."""
    return fate and (fate[0], fate[1])


def share_difference(wanted, got):
    """The first fate whose share is another one by more than chance explains."""
    for fate in sorted({*map(place, wanted), *map(place, got)}, key=str):
        shares = [sum(place(one) == fate for one in all_of) / len(all_of) for all_of in (wanted, got)]
        together = (shares[0] * len(wanted) + shares[1] * len(got)) / (len(wanted) + len(got))
        spread = (together * (1 - together) * (1 / len(wanted) + 1 / len(got))) ** 0.5
        if abs(shares[0] - shares[1]) > SPREADS * spread:
            return f"{shown(fate)}: {shares[0]:.1%} of {len(wanted)} RPCs, now {shares[1]:.1%}", True
    return None


def shown(fate):
    code, backend, attempts, *_ = (*fate, None, None)
    return f"{backend or code}" + (f" after {attempts} attempts" if attempts and attempts != 1 else "")


def compare(rows, recorded, ask):
    """Asks about rows; yields (id, difference) of those that differ. A row that differs is asked again."""
    recorded = {answer["id"]: answer for answer in recorded}
    rows = {row["id"]: row for row in rows if row["id"] in recorded}
    answers = collections.defaultdict(list)
    left = dict(rows)
    for _ in range(TRIES):
        for answer in ask(list(left.values())):
            answers[answer["id"]].append(answer)
        left = {name: row for name, row in left.items() if answers[name] and difference(recorded[name], answers[name])}
    for name in rows:
        what = difference(recorded[name], answers[name]) if answers[name] else ("not asked", True)
        if what:
            yield name, what


def rules_of(names):
    counts = collections.Counter(name.split("/")[0] for name in names)
    return ", ".join(f"{rule} {count}" for rule, count in counts.most_common())


def verdicts_of(directory, client, is_written):
    """Prints the verdicts that are not those of the newest recorded version."""
    family, _, version = installs.parts(client)
    known = verdicts.Versions(family)
    base = [other for other in known.versions if other != version][-1]
    before, now = known.of(base), known.ask(directory, client)
    flips = collections.defaultdict(list)
    for key, (verdict, message) in now.items():
        if verdict != before[key]:
            flips[before[key], verdict].append((key[1], message))
    print(f"verdicts of {client}: {len(now):,} asked, {sum(map(len, flips.values())):,} are not those of {family}@{base}")
    for (was, is_now), rows in flips.items():
        print(f"  {was}, now {is_now}: {rules_of(name for name, _ in rows)}")
        for name, message in rows[:3]:
            print(f"    {name}{': ' + message[-160:] if message else ''}")
    if is_written:
        known.add(version, {key: verdict for key, (verdict, _) in now.items()})


def channels_of(client, questions, ask, only=None):
    """Prints the rows whose RPCs do not go where those of the newest recorded version went; says how many."""
    family = installs.parts(client)[0]
    base = newest_live(family, questions)
    recorded = list(verdicts.rows(f"clients/live/{family}@{base}-{questions}"))
    rows = [row for row in verdicts.rows(f"clients/live/{questions}") if only is None or row["id"] in only]
    differ = list(compare(rows, recorded, ask))
    print(f"channels of {client}: {len(rows)} of {questions} asked, {len(differ)} are not those of {family}@{base}")
    for name, (what, is_new) in differ:
        if is_new:
            print(f"  {name}: {what}")
    if by_chance := [name.split("-")[0] for name, (_, is_new) in differ if not is_new]:
        print(f"  others of the backends that the row has got the RPCs, as chance may have it: {rules_of(by_chance)}")
    return len(differ)
