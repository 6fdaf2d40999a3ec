"""The whole kit end to end, with the package's parts, a learner's, and naive ones; and the score of each."""

import hashlib
import json

import pytest

from streamkit.history import problems
from streamkit.lab.answers import Keyed, SmallLedger
from streamkit.lab.capstone import FAULTS, run_conversation, run_exchange
from streamkit.lab.captures import load
from streamkit.lab.naive_kit import NAIVE, NoLedger, everything
from streamkit.lab.parts import Parts
from streamkit.lab.replays import LABELS, interval, verdicts
from streamkit.lab.score import lacking, peers, score, score_chart
from streamkit.lab.shop import Shop, ShopClient

PACKAGE = Parts()
LEARNER = Parts(accumulator=Keyed)


class AfterTheRun(SmallLedger):
    """Writes nothing before the tool ran."""

    def claim(self, key):
        row = self.db.execute("SELECT result FROM claims WHERE key = ?", (key,)).fetchone()
        return ("settled", json.loads(row[0])) if row else ("new", None)

    def settle(self, key, result):
        self.db.execute("INSERT OR IGNORE INTO claims VALUES (?, ?)", (key, json.dumps(result)))


class Rerunning(SmallLedger):
    """Takes an open claim for one that nobody works on."""

    def claim(self, key):
        word, result = super().claim(key)
        return ("new", None) if word == "open" else (word, result)


def key_of_text(conversation, turn, name, arguments):
    """A key that sees in which order the fields came."""
    return hashlib.sha256(f"{conversation} {turn} {name} {json.dumps(arguments)}".encode()).hexdigest()


def prose_alone(turn):
    return [{"role": "assistant", "content": turn.text}] if turn.text else []


@pytest.mark.parametrize("parts", [PACKAGE, LEARNER], ids=["the package's", "a learner's"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("exchange", ["chat-exchange-refund", "messages-exchange-refund", "responses-exchange-ticket"])
def test_three_attempts_have_one_effect_and_true_histories(tmp_path, exchange, fault, parts):
    told = []
    with Shop() as shop:
        client = ShopClient(shop.url)
        ledger = parts.ledger(str(tmp_path / "ledger.db"))
        run_exchange(parts, ledger, exchange, client, ("c", 0), fault, told.append)
        assert sum(client.counts().values()) == 1
    assert [one.ledger for one in told] == [[], ["new"], ["settled"]]
    assert ("cancelled" if fault == "cancel" else "cut off") in told[0].screen and "ran" in told[2].screen
    assert problems(told[2].history, load(f"{exchange}-1").api) == []


@pytest.mark.parametrize("parts", [PACKAGE, LEARNER], ids=["the package's", "a learner's"])
def test_a_conversation_has_each_effect_once_and_a_history_that_a_provider_takes(tmp_path, parts):
    told = []
    with Shop() as shop:
        client = ShopClient(shop.url)
        names = ["chat-exchange-refund", "chat-exchange-ticket"]
        history = run_conversation(parts, names, client, str(tmp_path / "ledger.db"), told.append)
        assert {kind: count for kind, count in client.counts().items() if count} == {"refunds": 1, "tickets": 1}
    assert len(told) == 6 and {one.fault for one in told} == {"reset", "silence", ""}
    assert problems(history, "openai-chat") == []
    assert [message["role"] for message in history] == ["user", "assistant", "tool", "assistant"] * 2


def test_without_a_ledger_the_conversation_pays_twice(tmp_path):
    with Shop(honours_keys=False) as shop:
        client = ShopClient(shop.url)
        parts = PACKAGE._replace(ledger=NoLedger)
        run_conversation(parts, ["chat-exchange-refund"], client, "", lambda told: None)
        assert client.counts()["refunds"] == 2


@pytest.mark.parametrize("parts", [PACKAGE, LEARNER._replace(accumulator=PACKAGE.accumulator)])
def test_the_packages_parts_pass_every_case(parts):
    result = score(parts)
    assert (result.passed, result.total, result.policy_passed, result.policy_total) == (61, 61, 13, 13), result.failed


@pytest.mark.parametrize(
    ("part", "fails"),
    [
        ({"ledger": NoLedger}, {"099", "100", "101"}),
        ({"ledger": AfterTheRun}, {"100"}),
        ({"ledger": Rerunning}, {"100"}),
        ({"call_key": key_of_text}, {"099", "100"}),
        ({"history_of": everything}, {"036", "051", "062", "064", "065"}),
        ({"history_of": prose_alone}, {"036", "051", "062", "064", "065"}),
    ],
    ids=["no ledger", "claimed after the run", "an open claim run again", "key of the text", "all kept", "prose alone"],
)
def test_a_wrong_key_ledger_or_history_fails_its_cases_and_no_other(part, fails):
    result = score(PACKAGE._replace(**part))
    failed = result.failed | result.policy_failed
    assert {name[:3] for name in failed} == fails, failed
    assert all(found.startswith(("persist", "retry_ledger")) for found in failed.values())


def test_a_naive_kit_scores_visibly_lower_and_is_told_what_it_lacks():
    naive = score(NAIVE)
    assert naive.passed < 40 and len(lacking(naive)) >= 6
    assert sum(lacking(naive).values()) == len(naive.failed) == naive.total - naive.passed
    assert len(naive.policy_failed) == naive.policy_total - naive.policy_passed


def test_a_part_that_raises_fails_its_cases_and_no_more():
    def raises(*_, **__):
        raise KeyError("x")

    result = score(PACKAGE._replace(finalise=raises))
    assert 0 < result.passed < 20
    assert any("KeyError" in found for found in result.failed.values())
    assert {name[:3] for name in score(PACKAGE._replace(history_of=raises)).failed} == {
        "036",
        "051",
        "062",
        "064",
        "065",
    }


def test_no_published_library_passed_all_of_its_cases():
    assert len(peers()) == 10
    assert all(passed < total for passed, total in peers().values())
    assert len(score_chart(score()).data["published libraries"]) == 8


def test_every_replay_is_counted_once():
    counts = verdicts()
    assert set(counts) == set(LABELS.values())
    assert all(sum(kinds.values()) == 100 for kinds in counts.values())
    low, high = interval(21, 100)
    assert 0.13 < low < 0.21 < high < 0.31
