"""Judges a server's answers to the catalogue by Triton's, and by two lists.

The lists are differences.toml (chosen, each with its reason) and waiting.toml (by the RPC that a case waits for); both
say what is answered instead, so that no case goes unchecked. Wording of texts is not compared: only that there is one.
"""
import dataclasses
import fnmatch
import tomllib


@dataclasses.dataclass
class Entry:
    """A line of a list: the cases it is for, and what they must answer."""
    why: str
    patterns: list
    code: str
    facts: dict
    waits: bool = False  # answers as any unknown method does, which may be what Triton says

    def fits(self, case):
        return any(fnmatch.fnmatchcase(case, p) for p in self.patterns)


def read_differences(path):
    entries = []
    for d in tomllib.loads(path.read_text())["difference"]:
        unknown = set(d) - {"reason", "cases", "code", "facts"}
        if unknown or not d.get("reason") or not ("code" in d) ^ ("facts" in d):
            raise ValueError(f"{path.name}: an entry needs a reason, cases, and either an error code or facts: {d}")
        entries.append(Entry(d["reason"], d["cases"], d.get("code", "OK"), d.get("facts", {})))
    return entries


def read_waiting(path):
    entries = []
    for d in tomllib.loads(path.read_text())["waiting"]:
        if set(d) - {"rpc", "cases", "code"} or not d.get("rpc"):
            raise ValueError(f"{path.name}: an entry needs an rpc and cases: {d}")
        entries.append(Entry(f"waits for {d['rpc']}", d["cases"], d.get("code", "UNIMPLEMENTED"), {}, waits=True))
    return entries


def describe(answer):
    return f"{answer['code']} {answer['facts']}" if answer["facts"] else answer["code"]


def same(want, got):
    """Equality, where "*" in `want` stands for any text but the empty one.

    What is left out there stands for null, which TOML lacks.
    """
    if isinstance(want, dict) and isinstance(got, dict):
        return all(same(want.get(key), got.get(key)) for key in want.keys() | got.keys())
    if isinstance(want, list) and isinstance(got, list):
        return len(want) == len(got) and all(map(same, want, got))
    return want == got or want == "*" and isinstance(got, str) and got != ""


def judge_case(case, answer, triton, entries):
    """What is wrong with one answer; empty if nothing is."""
    listed = [e for e in entries if e.fits(case)]
    if len(listed) > 1:
        return f"{case} is listed twice: {listed[0].why}; {listed[1].why}"
    if triton is None:
        return f"{case}: Triton was not asked"
    if answer.get("server_died"):
        return f"{case}: the server died"
    want = {"code": listed[0].code, "facts": listed[0].facts} if listed else triton
    if answer["code"] != want["code"] or not same(want["facts"], answer["facts"]):
        why = f" ({listed[0].why})" if listed else ""
        return f"{case}{why}\n  want {describe(want)}\n  got  {describe(answer)}"
    waits = bool(listed) and listed[0].waits
    if answer["code"] != "OK" and triton["message"] and not answer["message"] and not waits:
        return f"{case}: {answer['code']} without a text"
    if listed and not waits and triton["code"] == answer["code"] and triton["facts"] == answer["facts"]:
        return f"{case} is listed, but answers as Triton does ({listed[0].why})"
    return ""


def judge(answers, triton, differences, waiting):
    """All faults: of the answers, and of the lists. Also counts by kind of agreement."""
    entries = differences + waiting
    faults = [fault for case, answer in answers.items()
              if (fault := judge_case(case, answer, triton.get(case), entries))]
    faults += [f"{case} was not asked" for case in triton if case not in answers]
    for entry in entries:
        for pattern in entry.patterns:
            if not fnmatch.filter(answers, pattern):
                faults.append(f"no case is called {pattern} ({entry.why})")
    counts = {
        "differ on purpose": sum(any(e.fits(c) for e in differences) for c in answers),
        "wait": sum(any(e.fits(c) for e in waiting) for c in answers),
    }
    counts["as Triton"] = len(answers) - sum(counts.values())
    return faults, counts
