"""The earlier turns that show the model what a turn looks like, and the tools on offer."""

import copy
import json
from pathlib import Path

from talk import says, user

TOOLS = {tool["name"]: tool for tool in json.loads((Path(__file__).parents[1] / "tools.json").read_text("utf8"))}
SYSTEM = "You are the clerk of a lamp shop. Say one short sentence, then use the tools."
TALKER = "You are the clerk of a lamp shop. You answer in one or two friendly sentences."


def search(query, **more):
    return ("search_orders", {"query": query, **more})


def reordered(name: str, first: list[str]) -> dict:
    """A tool whose schema lists some optional fields before the required ones."""
    tool = copy.deepcopy(TOOLS[name])
    fields = tool["parameters"]["properties"]
    tool["parameters"]["properties"] = {key: fields[key] for key in first} | fields
    return tool


def bounded(name: str, key: str, longest: int) -> dict:
    """A tool with a longest length, in characters, for one of its texts."""
    tool = copy.deepcopy(TOOLS[name])
    tool["parameters"]["properties"][key]["maxLength"] = longest
    return tool


SEARCHES = [
    user("Which brass lamps came back, and which were delivered?"),
    says(
        "I will look at both.",
        search("brass lamp", status="returned", limit=20),
        search("brass lamp", status="delivered", limit=20),
    ),
    user("Who still waits for a floor lamp, open or packed?"),
    says(
        "Let me see the open orders and the packed ones.",
        search("floor lamp", status="open"),
        search("floor lamp", status="packed", limit=5),
    ),
]
ONE = [
    user("Which brass lamps came back this spring?"),
    says(
        "I will look at the returned brass lamps.", search("brass lamp", status="returned", placed_after="2026-03-01")
    ),
    user("Who still waits for a floor lamp?"),
    says("Let me see who waits for a floor lamp.", search("floor lamp", status="open", limit=15)),
]
SCOPES = [
    user("Look in the whole country for orders with paper shades, 20 of them."),
    says("I search the whole country for paper shades.", search("paper shade", limit=20, scope="one_country")),
    user("All brass lamps of this region, please, up to 50."),
    says("I search this region for brass lamps.", search("brass lamp", limit=50, scope="one_region")),
]
ESCAPED = [
    user('Write down: Käthe wants the "Sunday" lamp, two lines, 40 €.'),
    says(
        'I write it down.\n<tool_call>\n{"name": "write_note", "arguments": {"title": "K\\u00e4the", "text": "The \\"Sunday\\" lamp:\\n\\t40 \\u20ac, \\ud83d\\ude00 thanks"}}\n</tool_call>'
    ),
    user('Write down: Zoë wants the "Moon" lamp, two lines, 35 €.'),
    says(
        'I write it down.\n<tool_call>\n{"name": "write_note", "arguments": {"title": "Zo\\u00eb", "text": "The \\"Moon\\" lamp:\\n\\t35 \\u20ac, \\ud83d\\ude00 thanks"}}\n</tool_call>'
    ),
]
WORLD = [
    user("Note for Käthe: lamp for Tokyo, 40 €."),
    says(
        "I write it down.",
        ("write_note", {"title": "Käthe 💡", "text": "Eine Lampe für Käthe, 40 €. Schön! 東京 😀 Ende."}),
    ),
    user("Note for Zoë: lamp for Kyoto, 35 €."),
    says(
        "I write it down.",
        ("write_note", {"title": "Zoë 🌙", "text": "Eine Lampe für Zoë, 35 €. Schön! 京都 😀 Ende."}),
    ),
]
PEOPLE = [
    "Ada",
    "Bruno",
    "Cleo",
    "Dario",
    "Edda",
    "Felix",
    "Gita",
    "Hugo",
    "Ines",
    "Jonas",
    "Kira",
    "Liam",
    "Mona",
    "Nils",
    "Olga",
    "Pablo",
    "Quinn",
    "Rosa",
    "Sven",
    "Tilda",
    "Ugo",
    "Vera",
    "Wanda",
    "Xenia",
    "Yusuf",
    "Zora",
    "Anton",
    "Berta",
    "Carlos",
    "Dora",
    "Emil",
    "Frida",
    "Georg",
    "Hanna",
    "Igor",
    "Julia",
    "Klaus",
    "Luisa",
    "Marco",
    "Nora",
    "Oskar",
    "Petra",
    "Ramon",
    "Sofia",
    "Timo",
    "Ursula",
]
WISHES = (
    ("brass", "lamp", "the kitchen"), ("green", "shade", "the office"), ("small", "lantern", "the garden"), ("blue", "globe", "the hall"),
    ("old", "chandelier", "the library"), ("white", "candle", "the boat"), ("tall", "floor lamp", "the school"),
)  # fmt: skip


def wishes(first: int, last: int) -> str:
    """A long list in which no two sentences are the same: a small model keeps its place in it."""
    lines = []
    for n, name in enumerate(PEOPLE[first:last], first):
        colour, thing, room = WISHES[n % 7][0], WISHES[n // 7 % 7][1], WISHES[(n + n // 7) % 7][2]
        lines.append(f"{name} wants a {colour} {thing} for {room}.")
    return " ".join(lines) + " That is all."


LONG = [
    user("Keep this in the book. Title: March, who wants which lamp in which room. Text: " + wishes(0, 4)),
    says(
        "I copy it into the book.",
        ("write_note", {"title": "March, who wants which lamp in which room", "text": wishes(0, 4)}),
    ),
    user("Keep this in the book. Title: April, who wants which lamp in which room. Text: " + wishes(4, 46)),
]
MOVES = [
    user("Move 2 of L-10 from Mill, shelf A1, to Harbour."),
    says(
        "I move them.",
        (
            "transfer_stock",
            {
                "source": {"store": "Mill", "shelf": "A1"},
                "target": {"store": "Harbour"},
                "items": [{"sku": "L-10", "quantity": 2}],
                "dry_run": False,
            },
        ),
    ),
    user("Only try: move 5 of L-22 and 1 of S-3 from Harbour to Mill, shelf B2."),
    says(
        "I only try it.",
        (
            "transfer_stock",
            {
                "source": {"store": "Harbour"},
                "target": {"store": "Mill", "shelf": "B2"},
                "items": [{"sku": "L-22", "quantity": 5}, {"sku": "S-3", "quantity": 1}],
                "dry_run": True,
            },
        ),
    ),
]
HOURS = [
    user("When are Mill and Harbour open?"),
    says("I look up both.", ("get_store_hours", {"store": "Mill"}), ("get_store_hours", {"store": "Harbour"})),
    user("When are Station and Old Town open?"),
    says("I look up both.", ("get_store_hours", {"store": "Station"}), ("get_store_hours", {"store": "Old Town"})),
]
REFUNDS = [
    user("Pay back A-1001: 129.95 euros, the glass was broken."),
    says(
        "I pay it back.", ("create_refund", {"order_id": "A-1001", "amount": 129.95, "reason": "the glass was broken"})
    ),
    user("Pay back A-1002: 1250.5 francs, wrong colour."),
    says(
        "I pay it back.",
        ("create_refund", {"order_id": "A-1002", "amount": 1250.5, "reason": "wrong colour", "currency": "CHF"}),
    ),
]
CARDS = [
    user("Keep Ada's card 4000 1234 5678 9010, until 08/29."),
    says(
        "I keep the card.",
        (
            "save_card",
            {"customer": "Ada", "card_number": "4000 1234 5678 9010", "expires": "08/29", "label": "Ada, blue card"},
        ),
    ),
    user("Keep Bo's card 4000 9999 8888 7777, until 01/30."),
    says(
        "I keep the card.",
        (
            "save_card",
            {"customer": "Bo", "card_number": "4000 9999 8888 7777", "expires": "01/30", "label": "Bo, work card"},
        ),
    ),
]
TICKETS = [
    user("Which tickets are open?"),
    says("I list the open tickets.", ("list_open_tickets", {})),
    user("And now?"),
    says("I list them once more.", ("list_open_tickets", {})),
]
TALK = [
    user("Thank you for the lamp!"),
    says("You are welcome. May it burn for many years."),
    user("Do you sell bulbs, too?"),
    says("Yes, we sell bulbs of forty and sixty watts. They are on the second shelf."),
]
