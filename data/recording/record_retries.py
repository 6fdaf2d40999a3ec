"""Record data/resamples and data/histories again:  python data/recording/record_retries.py   (extra `record`; about fifteen minutes)

resamples.ndjson: two turns, each asked again and again at temperatures 0, 0.2 and 0.8, as a retry asks again.
replays.ndjson: the turn after an interrupted one, with five histories of the interruption, 100 times each: the user asks for a
ticket number that was never given out, and no tool is on offer, so that the answer is a text. One JSON object a line; the lines with `request` say what was asked, the others what came.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

from model import ABOUT, Server, capture
from prompts import SYSTEM, TOOLS
from record_all import PORT
from talk import body, result, says, user

from streamkit.lab.recorder import surroundings

DATA = Path(__file__).parents[1]
API = "openai-chat"

RETRIED = {
    "refund": (
        [user("Pay back A-1001: the shade was torn."), says("I pay it back.", ("create_refund", {"order_id": "A-1001", "amount": 20, "reason": "the shade was torn"})),
         user("Pay back A-1002, wrong colour."), says("I pay it back.", ("create_refund", {"order_id": "A-1002", "amount": 35, "reason": "wrong colour"})),
         user("Pay back A-1003: one lamp came without a bulb, and the switch is loose.")],
        ["create_refund"],
    ),
    "ticket": (
        [user("Tom's lamp flickers."), says("I open a ticket.", ("open_ticket", {"subject": "Lamp flickers", "customer": "Tom", "priority": "normal"})),
         user("Mia's shade is cracked, and it is urgent."), says("I open a ticket.", ("open_ticket", {"subject": "Cracked shade", "customer": "Mia", "priority": "high"})),
         user("Noor's old chandelier fell down in the night, and two of its arms are bent.")],
        ["open_ticket"],
    ),
}  # fmt: skip

EARLIER = [
    user("My desk lamp flickers. Can the workshop look at it?"),
    says("I open a ticket for your lamp.", ("open_ticket", {"subject": "Desk lamp flickers"})),
    result("opened, number T-4417"),
    says("The ticket for your desk lamp is open."),
    user("What is its number?"),
    says("The number of the ticket is T-4417."),
    user("The switch of my floor lamp is stuck, too."),
    says("I open a ticket for the switch.", ("open_ticket", {"subject": "Switch of floor lamp stuck"})),
    result("opened, number T-4459"),
    says("The ticket for the switch is open."),
    user("What is its number?"),
    says("The number of the ticket is T-4459."),
    user("And the green shade is cracked. Please open a ticket for it."),
]
PROSE = "I open a ticket for the green shade."
NOTE = "[Interrupted here. The call to open_ticket did not run, and there is no result.]"
ASK = user("What is its number?")
HISTORIES = {
    "rolled_back": [*EARLIER, ASK],
    "prose_alone": [*EARLIER, says(PROSE), ASK],
    "note_in_assistant_text": [*EARLIER, says(f"{PROSE}\n{NOTE}"), ASK],
    "note_as_user_message": [*EARLIER, says(PROSE), user(NOTE), ASK],
    "fabricated_call_and_result": [
        *EARLIER,
        says(PROSE, ("open_ticket", {"subject": "Green shade cracked"})),
        result("interrupted"),
        ASK,
    ],
}


def ask(server: Server, request: dict) -> dict:
    """What one request brought: text, calls, reason, seconds."""
    with tempfile.TemporaryDirectory() as folder:
        captured = capture(Path(folder) / "one.jsonl", server, API, request, {})
    turn = captured.turn()
    calls = [{"name": call.name, "arguments": call.text, "outcome": call.outcome} for call in turn.calls]
    return {"text": turn.text, "calls": calls, "reason": turn.reason, "seconds": round(captured.ended_at, 2)}


def write(path: Path, server: Server, plan: list[tuple[dict, dict, int]]) -> None:
    """For each (what it is, request, times): a line with the request, then a line an answer, with its seed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with path.open("w", encoding="utf-8") as file:
        for what, request, times in plan:
            head = {**what, "api": API, **ABOUT, "recorded": surroundings(), "request": request}
            print(json.dumps(head), file=file)
            for seed in range(1, times + 1):
                print(
                    json.dumps({**what, "seed": seed, **ask(server, {**request, "seed": seed})}), file=file, flush=True
                )
            print(f"{what}: {times} answers, {time.monotonic() - began:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("resamples", "histories"))
    parser.add_argument("--times", type=int, default=0, help="answers for each, instead of 40 and 100")
    parser.add_argument("--out", type=Path, default=DATA)
    args = parser.parse_args()
    server = Server(PORT)
    try:
        if args.only != "histories":
            plan = [
                ({"turn": name, "temperature": t}, body(API, SYSTEM, turns, [TOOLS[tool] for tool in tools], limit=80, single=True, temperature=t), args.times or 40)
                for name, (turns, tools) in RETRIED.items()
                for t in (0.0, 0.2, 0.8)
            ]  # fmt: skip
            write(args.out / "resamples" / "resamples.ndjson", server, plan)
        if args.only != "resamples":
            plan = [
                ({"history": name}, body(API, SYSTEM, turns, [], limit=40, temperature=0.8), args.times or 100)
                for name, turns in HISTORIES.items()
            ]  # fmt: skip
            write(args.out / "histories" / "replays.ndjson", server, plan)
    finally:
        server.kill()


if __name__ == "__main__":
    main()
