"""`streamkit cases PATH…`: each case that fails with its first difference, last `N of M pass`."""

import json
import sys

from ..case_effects import judge_effects
from ..cases import cut_case, judge, observed, read_cases, turn_of_case
from ..problem import Problem
from .show import safe


def arguments(parser) -> None:
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="case files (.json), corpora (.jsonl, a case a line), folders of them; captures are read by streamkit show",
    )
    parser.add_argument("--emit", action="store_true", help="print what was made of each, one JSON object a line")
    parser.add_argument("--cut", type=int, default=0, metavar="N", help="cut each body anew at N random places")
    parser.add_argument("--bytewise", action="store_true", help="feed single bytes")


def run(args) -> int:
    cases = read_cases(*args.paths)
    return emit(cases, args) if args.emit else check(cases, args)


def emit(cases, args) -> int:
    for case in cases:
        seen = observed(turn_of_case(case, cut_case(case, args.cut, args.bytewise)))
        json.dump({"name": case.get("name", "")} | seen, sys.stdout)
        print()
    return 0


def check(cases, args) -> int:
    passed = total = 0
    for case in cases:
        if "expected" not in case:
            raise Problem(f"{case.get('name')}: no `expected` to check against; use --emit to print what is made of it")
        found = judge(case, args.cut, args.bytewise)
        if found is None:
            found = judge_effects(case, cut_case(case, args.cut, args.bytewise))
        total, passed = total + 1, passed + (found is None)
        if found is not None:
            print(safe(f"{case.get('name')}: {found}"))
    print(f"{passed} of {total} pass")
    return 0 if passed == total and total else 1
