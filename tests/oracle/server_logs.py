"""What an xDS server of C-core says of its mode in its log, which its Python API does not tell."""
import re

SERVING = re.compile(r"xDS Listener resource obtained; will start serving on ")
# The status has lines of its own about where it was made.
NOT_SERVING = re.compile(r"ListenerWatcher:0x[0-9a-f]+\]? (?:Encountered fatal error|error obtaining xDS Listener resource:) "
                         r"(.*?)(?:\n=== Source Location Trace.*?)?; not serving on ", re.DOTALL)


def modes(log):
    """[mode, words] in the order of the log."""
    found = [(match.start(), ["SERVING", ""]) for match in SERVING.finditer(log)]
    found += [(match.start(), ["NOT_SERVING", match.group(1).strip()]) for match in NOT_SERVING.finditer(log)]
    return [mode for _, mode in sorted(found)]
