"""What is recorded for data/captures: each scenario's prompt, and a check that the recorded response shows what its name says.

The model is small and copies patterns: two earlier turns that do what is wanted, then the turn that is recorded.
The server holds the arguments to the offered schema while the model writes them (a grammar), required fields first.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import prompts
from prompts import SYSTEM, TOOLS, search
from talk import result, says, user

ALL = ("openai-chat", "anthropic-messages", "openai-responses")


class Seen(NamedTuple):
    """What a check looks at: the visible text, each call as (name, raw argument text), the reason and the ending."""

    text: str
    calls: list[tuple[str, str]]
    reason: str
    ending: str


@dataclass
class Scenario:
    """One prompt, recorded once for each API. `fault`: kill, stall or cancel, after `after` fragments of `where`."""

    name: str
    note: str
    turns: list[dict]
    tools: list[str]
    check: Callable[[Seen], bool]
    limit: int = 300
    choice: str = "auto"
    single: bool = False  # ask for at most one call
    temperature: float = 0.3
    system: str = SYSTEM
    fault: str = ""
    after: int = 12
    where: str = "arguments"
    apis: tuple[str, ...] = ALL
    schemas: dict = field(default_factory=dict)  # tools that are offered with another schema than in tools.json
    results: Callable | None = (
        None  # an exchange: (name, arguments) -> the tool's result; the answer to it is recorded too
    )
    finish: Callable[[Seen], bool] = lambda seen: bool(seen.text)

    def offered(self) -> list[dict]:
        """The tools with their schemas, in the order of this scenario."""
        return [self.schemas.get(name, TOOLS[name]) for name in self.tools]


def args(seen: Seen, place: int = 0) -> dict:
    """The arguments of a finished call, {} where they do not parse."""
    try:
        return json.loads(seen.calls[place][1])
    except (IndexError, ValueError):
        return {}


def strictly(seen: Seen) -> bool:
    """The first call's arguments hold no half surrogate pair, which the standard library's parser lets through."""
    return not any("\ud800" <= char <= "\udfff" for char in json.dumps(args(seen), ensure_ascii=False))


def names(seen: Seen) -> list[str]:
    return [name for name, _ in seen.calls]


def fine(seen: Seen, count: int) -> bool:
    """A complete turn with prose before `count` calls whose arguments parse."""
    try:
        parsed = [json.loads(text or "{}") for _, text in seen.calls]
    except ValueError:
        return False
    return seen.ending == "clean" and seen.reason not in LIMITS and bool(seen.text.strip()) and len(parsed) == count


LIMITS = ("length", "max_tokens", "max_output_tokens")


def broken(seen: Seen) -> bool:
    """Exactly the last call is cut: its arguments have begun and do not parse."""
    try:
        return bool(seen.calls and seen.calls[-1][1] and json.loads(seen.calls[-1][1]) is None)
    except ValueError:
        return True


SCENARIOS = [
    Scenario("two-searches", "prose, then two calls to one tool with different filters",
             [*prompts.SEARCHES, user("Find desk lamps that were shipped, and desk lamps that are open.")], ["search_orders"],
             lambda s: fine(s, 2) and s.calls[0] != s.calls[1] and {"search_orders"} == set(names(s))),
    Scenario("preamble-then-call", "prose, then one call",
             [*prompts.ONE, user("Who bought a paper shade since the first of June?")], ["search_orders"], lambda s: fine(s, 1), single=True),
    Scenario("query-alone", "a call without any optional field",
             [user("Look for brass lamps."), says("I look for them.", search("brass lamp")), user("Look for floor lamps."),
              says("I look for them.", search("floor lamp")), user("Look for garden lanterns.")], ["search_orders"],
             lambda s: fine(s, 1) and list(args(s)) == ["query"], single=True),
    Scenario("scope-last", "the required field first, and last an optional one that changes what is searched",
             [*prompts.SCOPES, user("Look for glass shades in this region, up to 100.")], ["search_orders"],
             lambda s: fine(s, 1) and list(args(s))[-1] == "scope" and args(s)["scope"].startswith("one_") and args(s).get("limit", 0) >= 100, single=True),
    Scenario("scope-all-archived", "a value that extends: `all` closed one fragment later would be `all_archived`",
             [user("Search all archived orders for oil lamps, 20 of them."), says("I search the archive.", search("oil lamp", limit=20, scope="all_archived")),
              user("Search all archived orders for wick lamps, 50 of them."), says("I search the archive.", search("wick lamp", limit=50, scope="all_archived")),
              user("Search all archived orders for gas lamps, 1000 of them.")], ["search_orders"],
             lambda s: fine(s, 1) and args(s).get("scope") == "all_archived" and args(s).get("limit", 0) >= 100, single=True),
    Scenario("optional-listed-first", "fields in another order than the schema lists them: it lists `scope` and `limit` before the required `query`",
             [*prompts.SCOPES, user("Look for glass shades in the whole country, up to 100.")], ["search_orders"],
             lambda s: fine(s, 1) and next(iter(args(s))) == "query" and len(args(s)) > 1, single=True,
             schemas={"search_orders": prompts.reordered("search_orders", ["scope", "limit"])}),
    Scenario("amount-over-fragments", "a number that extends over fragments",
             [*prompts.REFUNDS, user("Pay back A-1003: 1049.75 dollars, it never came.")], ["create_refund"],
             lambda s: fine(s, 1) and args(s).get("amount", 0) > 1000, single=True),
    Scenario("refund-of-nothing", "the schema refuses the amount (it must be more than 0): an invalid call",
             [user("Pay back A-1001: 0 euros."), says("I pay it back.", ("create_refund", {"order_id": "A-1001", "amount": 0})),
              user("Pay back A-1002: 0 euros."), says("I pay it back.", ("create_refund", {"order_id": "A-1002", "amount": 0})),
              user("Pay back A-1003: 0 euros.")], ["create_refund"],
             lambda s: fine(s, 1) and args(s).get("amount") == 0, single=True),
    Scenario("escapes", "escapes in the arguments, split over fragments: \\n, \\t, \\\", \\u and a surrogate pair",
             [*prompts.ESCAPED, user('Write down: Jürgen wants the "Star" lamp, two lines, 25 €.')], ["write_note"],
             lambda s: fine(s, 1) and strictly(s) and all(mark in s.calls[0][1] for mark in ("\\n", '\\"', "\\u00", "\\ud83d\\ud")), single=True),
    Scenario("half-a-pair", "the model wrote half a surrogate pair: arguments that lenient parsers let through and strict ones refuse",
             [*prompts.ESCAPED, user('Write down: Jürgen wants the "Star" lamp, two lines, 25 €.')], ["write_note"],
             lambda s: fine(s, 1) and not strictly(s), single=True, temperature=0.6),
    Scenario("world-text", "letters beyond ASCII and emoji in the arguments",
             [*prompts.WORLD, user("Note for Jürgen: lamp for Osaka, 25 €.")], ["write_note"],
             lambda s: fine(s, 1) and any(ord(c) > 0xFFFF for c in s.calls[0][1]) and any(0x80 < ord(c) < 0x800 for c in s.calls[0][1]), single=True),
    Scenario("long-note", "long arguments, more than 2,000 characters; the schema's maxLength stops a model that would not stop by itself", prompts.LONG, ["write_note"],
             lambda s: fine(s, 1) and len(s.calls[0][1]) > 2000, limit=800, single=True, choice="required", temperature=0.5, schemas={"write_note": prompts.bounded("write_note", "text", 2000)}),
    Scenario("nested-transfer", "objects and a list of objects in the arguments",
             [*prompts.MOVES, user("Move 12 of L-31 and 4 of S-8 from Station to Harbour, shelf C7.")], ["transfer_stock"],
             lambda s: fine(s, 1) and isinstance(args(s).get("items"), list), single=True),
    Scenario("dry-run-last", "an optional field that changes the meaning comes last: only try it",
             [*prompts.MOVES, user("Only try: move 3 of L-31 from Station to Mill.")], ["transfer_stock"],
             lambda s: fine(s, 1) and list(args(s))[-1] == "dry_run" and args(s)["dry_run"] is True, single=True),
    Scenario("no-arguments", "a tool without arguments",
             [*prompts.TICKETS, user("Which tickets are left?")], ["list_open_tickets", "get_store_hours"],
             lambda s: fine(s, 1) and names(s) == ["list_open_tickets"], single=True),
    Scenario("hidden-card", "an argument that must stay hidden (the card number is made up)",
             [*prompts.CARDS, user("Keep Cleo's card 4000 5555 6666 1111, until 11/28.")], ["save_card"],
             lambda s: fine(s, 1) and "4000" in args(s).get("card_number", ""), single=True),
    Scenario("two-hours", "two calls without optional fields",
             [*prompts.HOURS, user("When are Airport and Castle open?")], ["get_store_hours"], lambda s: fine(s, 2) and s.calls[0] != s.calls[1]),
    Scenario("two-tools", "two calls to two tools in one turn",
             [user("Is Mill open on monday, and has it sold oil lamps?"), says("I look up both.", ("get_store_hours", {"store": "Mill", "day": "monday"}), search("oil lamp")),
              user("Is Harbour open on friday, and has it sold globes?"), says("I look up both.", ("get_store_hours", {"store": "Harbour", "day": "friday"}), search("globe")),
              user("Is Station open on sunday, and has it sold candles?")], ["get_store_hours", "search_orders"],
             lambda s: fine(s, 2) and len(set(names(s))) == 2),
    Scenario("two-equal-refunds", "the same call twice in one turn",
             [user("Pay back A-1001 twice, 20 euros each."), says("I pay it twice.", *[("create_refund", {"order_id": "A-1001", "amount": 20})] * 2),
              user("Pay back A-1002 twice, 35 euros each."), says("I pay it twice.", *[("create_refund", {"order_id": "A-1002", "amount": 35})] * 2),
              user("Pay back A-1003 twice, 50 euros each.")], ["create_refund"], lambda s: fine(s, 2) and s.calls[0] == s.calls[1]),
    Scenario("plain-text", "text without a call, with tools on offer",
             [*prompts.TALK, user("What should I know about old brass lamps?")], ["search_orders"],
             lambda s: not s.calls and len(s.text) > 40 and s.reason not in LIMITS, system=prompts.TALKER, temperature=0.7),
    Scenario("limit-in-prose", "a limit that cuts the text, no call (over Responses the server says `completed` all the same)",
             [*prompts.TALK, user("Tell me a long story about a lighthouse.")], [], lambda s: not s.calls and s.reason in (*LIMITS, "completed") and s.text.rstrip()[-1:] not in ".!?", limit=40, system=prompts.TALKER, temperature=0.7),
    Scenario("limit-in-arguments", "a limit that cuts inside the arguments",
             [*prompts.ONE, user("Who bought a paper shade since the first of June?")], ["search_orders"], lambda s: broken(s) and s.reason in LIMITS,
             limit=34, single=True, apis=ALL[:2]),
    Scenario("limit-completed", "a limit that cuts inside the arguments, over which the server says `completed` all the same",
             [*prompts.ONE, user("Who bought a paper shade since the first of June?")], ["search_orders"], lambda s: broken(s) and s.reason == "completed",
             limit=34, single=True, apis=ALL[2:]),
    Scenario("limit-in-second-call", "a limit that cuts inside the second call; the first is whole (over Responses the server says `completed` all the same)",
             [*prompts.SEARCHES, user("Find desk lamps that were shipped, and desk lamps that are open.")], ["search_orders"],
             lambda s: len(s.calls) == 2 and broken(s) and bool(args(s)), limit=88),
    Scenario("killed-in-arguments", "the server process was killed inside the arguments: a real reset",
             [*prompts.SCOPES, user("Look for glass shades in this region, up to 100.")], ["search_orders"],
             lambda s: broken(s) and s.ending == "disconnect", fault="kill", single=True),
    Scenario("killed-in-second-call", "the server process was killed inside the second call's arguments; the first call had arrived whole",
             [*prompts.SEARCHES, user("Find desk lamps that were shipped, and desk lamps that are open.")], ["search_orders"],
             lambda s: len(s.calls) == 2 and broken(s) and s.ending == "disconnect", fault="kill", after=30),
    Scenario("killed-in-prose", "the server process was killed inside the text",
             [*prompts.TALK, user("Tell me a long story about a lighthouse.")], [], lambda s: bool(s.text) and s.ending == "disconnect",
             fault="kill", where="text", system=prompts.TALKER, temperature=0.7),
    Scenario("timeout-in-arguments", "the server process was stopped inside the arguments; the client gave up after 3 s of silence",
             [*prompts.REFUNDS, user("Pay back A-1003: 1049.75 dollars, it never came.")], ["create_refund"],
             lambda s: broken(s) and s.ending == "timeout", fault="stall", single=True),
    Scenario("cancel-in-arguments", "the client cancelled inside the arguments",
             [*prompts.WORLD, user("Note for Jürgen: lamp for Osaka, 25 €.")], ["write_note"],
             lambda s: broken(s) and s.ending == "cancel", fault="cancel", single=True),
    Scenario("exchange-refund", "a refund, its result, and the response built on it",
             [user("Pay back A-1001: 20 euros."), says("I pay it back.", ("create_refund", {"order_id": "A-1001", "amount": 20})), result("paid, refund R-311"),
              says("I paid 20 euros back for A-1001. The refund is R-311."), user("Pay back A-1002: 35 euros."),
              says("I pay it back.", ("create_refund", {"order_id": "A-1002", "amount": 35})), result("paid, refund R-312"),
              says("I paid 35 euros back for A-1002. The refund is R-312."), user("Pay back A-1003: 50 euros.")], ["create_refund"],
             lambda s: fine(s, 1) and "A-1003" in s.calls[0][1], single=True, results=lambda name, a: "paid, refund R-313",
             finish=lambda s: "R-313" in s.text and not s.calls),
    Scenario("exchange-two-searches", "two searches, their results, and the response built on them",
             [*prompts.SEARCHES[:2], result("1 order: A-1007, Okoro", "2 orders: A-1011, Tanaka; A-1012, Weiss"),
              says("One brass lamp came back: A-1007. Two were delivered: A-1011 and A-1012."), *prompts.SEARCHES[2:],
              result("1 order: A-1020, Haddad", "no order"), says("One order is open: A-1020. No order is packed."),
              user("Which desk lamps were shipped, and which are open?")], ["search_orders"], lambda s: fine(s, 2) and s.calls[0] != s.calls[1],
             results=lambda name, a: f"1 order: A-{1030 + len(a.get('status', ''))}, Silva", finish=lambda s: "A-10" in s.text and not s.calls),
    Scenario("exchange-ticket", "a ticket, its number, and the response built on it",
             [user("Tom's lamp flickers, please have it mended."), says("I open a ticket.", ("open_ticket", {"subject": "Lamp flickers", "customer": "Tom"})),
              result("ticket T-501"), says("The workshop will mend Tom's lamp. The ticket is T-501."), user("Mia's shade is cracked."),
              says("I open a ticket.", ("open_ticket", {"subject": "Cracked shade", "customer": "Mia"})), result("ticket T-502"),
              says("The workshop will mend Mia's shade. The ticket is T-502."), user("Noor's switch is stuck.")], ["open_ticket"],
             lambda s: fine(s, 1) and names(s) == ["open_ticket"], single=True, results=lambda name, a: "ticket T-503",
             finish=lambda s: "T-503" in s.text and not s.calls),
    Scenario("exchange-hours", "opening hours, and the response built on them",
             [user("When is Mill open?"), says("I look it up.", ("get_store_hours", {"store": "Mill"})), result("9 to 17, not on sunday"),
              says("Mill is open from 9 to 17, but not on Sunday."), user("When is Harbour open?"),
              says("I look it up.", ("get_store_hours", {"store": "Harbour"})), result("10 to 20, every day"),
              says("Harbour is open from 10 to 20, every day."), user("When is Airport open?")], ["get_store_hours"],
             lambda s: fine(s, 1), single=True, results=lambda name, a: "6 to 23, every day",
             finish=lambda s: "6 to 23" in s.text and not s.calls),
]  # fmt: skip
