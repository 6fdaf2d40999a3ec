"""One rule: a key is New once, whoever asks, whatever dies, and every end is told to all who ask later."""

import asyncio
import importlib.util
import json
import os
import random
import threading
import time

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from streamkit.claims import Attempt, Changed, New, NotDone, NotHeld, Open, Settled
from streamkit.finalise import Unparseable, finalise
from streamkit.key import Unkeyable, idempotency_key
from streamkit.lab.child import POINTS, run_child
from streamkit.lab.paths import CASES, ROOT
from streamkit.lab.shop import Shop, ShopClient
from streamkit.ledger import Ledger

PAY = {"to": "acct-1", "cents": 1200}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path):
    ledger = Ledger(path)
    yield ledger
    ledger.close()


@pytest.fixture
def attempt(ledger):
    return ledger.begin("chat", "message-1")


def keys(attempt, *calls):
    return {idempotency_key(attempt.conversation, attempt.turn, tool, arguments) for tool, arguments in calls}


class TestStates:
    """The table of the module, row by row: how a claim gets into a state, and what the next who claims it is told."""

    def test_no_row(self, ledger, attempt):
        claim = ledger.claim(attempt, "pay", PAY)
        assert isinstance(claim, New) and claim.key == idempotency_key("chat", 0, "pay", PAY)
        assert ledger.look("0" * 64) is None

    def test_claimed(self, ledger, attempt):
        key, _ = ledger.claim(attempt, "pay", PAY)
        assert ledger.claim(attempt, "pay", PAY) == ledger.look(key) == Open(key, in_doubt=False)
        assert [entry.key for entry in ledger.doubts()] == [key]

    @pytest.mark.parametrize("state", ["ran", "failed"])
    def test_ended(self, ledger, attempt, state):
        claim = ledger.claim(attempt, "pay", PAY)
        ledger.settle(claim, state, {"id": 7, "text": "lamp \ud83d \u00e9", "big": 2**70})
        answer = Settled(claim.key, state, {"id": 7, "text": "lamp \ud83d \u00e9", "big": 2**70})
        assert ledger.claim(attempt, "pay", PAY) == ledger.look(claim.key) == answer
        assert ledger.doubts() == []

    def test_in_doubt_by_its_holder(self, ledger, attempt):
        claim = ledger.claim(attempt, "pay", PAY)
        ledger.settle(claim, "in_doubt", "time-out")
        assert ledger.claim(attempt, "pay", PAY) == Open(claim.key, in_doubt=True)
        assert [(entry.key, entry.state, entry.result) for entry in ledger.doubts()] == [
            (claim.key, "in_doubt", "time-out")
        ]

    def test_in_doubt_by_one_who_waited_and_then_the_holders_late_word(self, ledger, attempt):
        claim = ledger.claim(attempt, "pay", PAY)
        assert ledger.doubt(claim.key, "waited 30 s") == Open(claim.key, in_doubt=True)
        ledger.settle(claim, "ran", 7)
        assert ledger.doubt(claim.key, "waited 30 s") == Settled(claim.key, "ran", 7)  # too late to doubt

    @pytest.mark.parametrize("state", ["ran", "failed"])
    def test_a_doubt_is_resolved_once(self, ledger, attempt, state):
        claim = ledger.claim(attempt, "pay", PAY)
        with pytest.raises(NotHeld, match=r"expected in_doubt, to become .*, but it is claimed"):
            ledger.resolve(claim.key, state, 7)  # its holder may run
        ledger.doubt(claim.key, "waited")
        ledger.resolve(claim.key, state, 7)
        assert ledger.claim(attempt, "pay", PAY) == Settled(claim.key, state, 7)
        with pytest.raises(NotHeld):
            ledger.resolve(claim.key, "ran", 8)
        with pytest.raises(NotHeld) as caught:
            ledger.settle(claim, "ran", 8)
        assert (caught.value.state, caught.value.result) == ("ran", 8)  # what could not be written is not lost
        assert ledger.look(claim.key) == Settled(claim.key, state, 7)

    def test_settle_matches_key_token_and_state(self, ledger, attempt):
        claim, other = ledger.claim(attempt, "pay", PAY), ledger.claim(attempt, "pay", {"to": "acct-2"})
        wrong = [
            New(claim.key, other.token),
            New(other.key, claim.token),
            New(claim.key, ""),
            New("0" * 64, claim.token),
        ]
        for forged in wrong:
            for state in ("ran", "failed", "in_doubt"):
                with pytest.raises(NotHeld):
                    ledger.settle(forged, state)
        assert {entry.state for entry in ledger.doubts()} == {"claimed"} and len(ledger.doubts()) == 2
        ledger.settle(claim, "ran", 1)
        for state in ("ran", "failed", "in_doubt"):
            with pytest.raises(NotHeld, match="it is ran"):
                ledger.settle(claim, state, 2)
        assert ledger.look(claim.key) == Settled(claim.key, "ran", 1)

    @pytest.mark.parametrize("state", ["claimed", "done", "", None])
    def test_a_word_that_is_no_end_is_refused(self, ledger, attempt, state):
        claim = ledger.claim(attempt, "pay", PAY)
        with pytest.raises(ValueError, match="expected one of in_doubt, ran, failed"):
            ledger.settle(claim, state)


class TestRunning:
    """How the end of a run becomes a state: only NotDone means that nothing was done."""

    @pytest.mark.parametrize(
        "error, state",
        [
            (NotDone("card refused"), "failed"),
            (TimeoutError("5 s"), "in_doubt"),
            (asyncio.CancelledError(), "in_doubt"),
            (KeyboardInterrupt(), "in_doubt"),
            (SystemExit(1), "in_doubt"),
            (ConnectionResetError("peer"), "in_doubt"),
            (KeyError("bug in the tool"), "in_doubt"),
            (ExceptionGroup("several", [NotDone("one of them")]), "in_doubt"),
        ],
        ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else value,
    )
    def test_an_exception(self, ledger, attempt, error, state):
        claim = ledger.claim(attempt, "pay", PAY)
        with pytest.raises(type(error)) as caught, ledger.running(claim):
            raise error
        assert caught.value is error
        [entry] = ledger.entries("chat", 0)
        assert entry.state == state and entry.result.startswith(type(error).__name__)

    def test_a_result(self, ledger, attempt):
        with ledger.running(ledger.claim(attempt, "pay", PAY)) as run:
            run.result = {"receipt": 7}
        [entry] = ledger.entries("chat", 0)
        assert (entry.state, entry.result, entry.arguments) == ("ran", {"receipt": 7}, PAY)

    def test_a_result_that_is_no_json_is_a_doubt(self, ledger, attempt):
        with pytest.raises(TypeError), ledger.running(ledger.claim(attempt, "pay", PAY)) as run:
            run.result = object()
        [entry] = ledger.doubts()
        assert entry.state == "in_doubt" and "TypeError" in entry.result

    def test_a_cancelled_task_and_a_timeout_really(self, ledger, attempt):
        async def tool(name, claim):
            with ledger.running(claim):
                await asyncio.sleep(30)

        async def main():
            task = asyncio.create_task(tool("cancelled", ledger.claim(attempt, "pay", PAY)))
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(tool("late", ledger.claim(attempt, "pay", {"to": "acct-2"})), 0.01)

        asyncio.run(main())
        assert [entry.state for entry in ledger.entries("chat", 0)] == ["in_doubt", "in_doubt"]


class TestTurns:
    """The turn index is written with the request, before it is sent; who asks again reads it back."""

    def test_a_retry_a_reload_and_a_redelivery_read_it_back(self, ledger, path):
        request = {"messages": [{"role": "user", "content": "cancel order 5"}]}
        assert ledger.begin("chat", "m1", request) == Attempt("chat", 0, 0, request)
        assert ledger.begin("chat", "m1", request) == Attempt("chat", 0, 1, request)
        reloaded = Ledger(path)
        assert reloaded.begin("chat", "m1") == Attempt(
            "chat", 0, 2, request
        )  # from another process, which has no request
        assert ledger.begin("chat", "m1", {"with": "a note"}) == Attempt("chat", 0, 3, {"with": "a note"})
        assert reloaded.begin("chat", "m1").request == {"with": "a note"}
        reloaded.close()

    def test_a_new_message_is_a_new_turn_whatever_its_words(self, ledger):
        request = {"messages": ["cancel order 5"]}
        turns = [ledger.begin("chat", message, request)[1:3] for message in ("m1", "m1", "m2", "m1", "m3", "m2")]
        assert turns == [(0, 0), (0, 1), (1, 0), (0, 2), (2, 0), (1, 1)]
        assert ledger.begin("another", "m1")[1:3] == (0, 0)

    def test_racing_tabs_never_share_a_number(self, ledger):
        found = []

        def tab():
            found.extend(ledger.begin("chat", f"m{n % 5}")[1:3] for n in range(40))

        threads = [threading.Thread(target=tab) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == [(turn, attempt) for turn in range(5) for attempt in range(32)]

    @pytest.mark.parametrize("conversation, message", [("", "m"), ("chat", ""), (None, "m"), ("chat", 5)])
    def test_an_id_that_tells_nothing_apart_is_refused(self, ledger, conversation, message):
        with pytest.raises(ValueError, match="expected an id"):
            ledger.begin(conversation, message)

    def test_no_claim_without_a_turn(self, ledger, attempt):
        for unknown in (Attempt("chat", 1, 0), Attempt("chat", 0, 1), Attempt("another", 0, 0)):
            with pytest.raises(ValueError, match="expected a turn and attempt that `begin` gave"):
                ledger.claim(unknown, "pay", PAY, proposed=())
        with pytest.raises(Unkeyable):
            ledger.claim(attempt, "pay", float("nan"))
        assert ledger.doubts() == []


class TestChanged:
    """A retry that proposes other arguments in place of claimed ones is not run without a decision."""

    OTHER, THIRD = {"to": "acct-2"}, {"to": "acct-3"}

    def retried(self, ledger, *calls):
        attempt = ledger.begin("chat", "message-1")
        proposed = keys(attempt, *(("pay", arguments) for arguments in calls))
        return [ledger.claim(attempt, "pay", arguments, proposed=proposed) for arguments in calls]

    def test_a_later_attempt_needs_the_whole_turn(self, ledger, attempt):
        later = ledger.begin("chat", "message-1")
        with pytest.raises(ValueError, match=r"attempt 1: expected the keys of the whole turn"):
            ledger.claim(later, "pay", PAY)
        assert ledger.doubts() == []

    @pytest.mark.parametrize("state", ["claimed", "in_doubt", "ran"])
    def test_other_arguments_instead(self, ledger, attempt, state):
        claim = ledger.claim(attempt, "pay", PAY)
        if state != "claimed":
            ledger.settle(claim, state, 7)
        [answer] = self.retried(ledger, self.OTHER)
        assert isinstance(answer, Changed) and answer.key != claim.key
        assert [(held.key, held.state, held.arguments) for held in answer.held] == [(claim.key, state, PAY)]
        assert len(ledger.entries("chat", 0)) == 1  # a Changed leaves no claim: asked again, it is Changed again
        assert isinstance(self.retried(ledger, self.OTHER)[0], Changed)

    def test_a_decision_makes_it_new_and_only_once(self, ledger, attempt):
        ledger.claim(attempt, "pay", PAY)
        later = ledger.begin("chat", "message-1")
        assert isinstance(ledger.claim(later, "pay", self.OTHER, proposed=(), decided=True), New)
        assert isinstance(ledger.claim(later, "pay", self.OTHER, proposed=(), decided=True), Open)

    def test_where_all_claimed_keys_return_further_calls_are_new(self, ledger, attempt):
        claims = [ledger.claim(attempt, "pay", arguments) for arguments in (PAY, self.OTHER)]
        ledger.settle(claims[0], "ran", 7)
        same, open_, new = self.retried(ledger, PAY, self.OTHER, self.THIRD)
        assert same == Settled(claims[0].key, "ran", 7) and open_ == Open(claims[1].key, False) and isinstance(new, New)

    def test_where_one_of_two_does_not_return_the_new_one_is_changed(self, ledger, attempt):
        for arguments in (PAY, self.OTHER):
            ledger.claim(attempt, "pay", arguments)
        open_, changed = self.retried(ledger, PAY, self.THIRD)
        assert isinstance(open_, Open) and [held.arguments for held in changed.held] == [self.OTHER]

    def test_what_certainly_did_nothing_holds_nobody_back(self, ledger, attempt):
        ledger.settle(ledger.claim(attempt, "pay", PAY), "failed", "card refused")
        assert isinstance(self.retried(ledger, self.OTHER)[0], New)

    def test_another_tool_and_another_turn_are_no_change(self, ledger, attempt):
        ledger.claim(attempt, "pay", PAY)
        later, next_turn = ledger.begin("chat", "message-1"), ledger.begin("chat", "message-2")
        assert isinstance(ledger.claim(later, "notify", self.OTHER, proposed=()), New)
        assert isinstance(ledger.claim(next_turn, "pay", self.OTHER), New)

    def test_the_first_attempt_is_held_back_too_where_a_later_one_was_faster(self, ledger, attempt):
        [fast] = self.retried(ledger, PAY)
        assert isinstance(fast, New)
        assert isinstance(ledger.claim(attempt, "pay", self.OTHER), Changed)
        assert isinstance(ledger.claim(attempt, "pay", PAY), Open)

    def test_parallel_calls_of_one_attempt_are_no_change(self, ledger, attempt):
        assert all(isinstance(ledger.claim(attempt, "pay", {"n": n}), New) for n in range(4))


class TestCases:
    """The conformance cases about the ledger: so many effects over both attempts, and the verdict."""

    def effects(self, ledger, case, die=False):
        """Both attempts of a case, each call dispatched at its completion; where it dies, nothing is written after the effect."""
        ran = []
        for part in [case["expected"], *([case["retry"]["expected"]] if "retry" in case else [])]:
            attempt = ledger.begin(case["name"], "message-1")
            calls = [
                (call["name"], finalise(call.get("raw") or json.dumps(call["arguments"]), call["name"]))
                for call in part["calls"]
            ]
            finished = [(name, final.arguments) for name, final in calls if not isinstance(final, Unparseable)]
            for name, arguments in finished:
                claim = ledger.claim(attempt, name, arguments, proposed=keys(attempt, *finished))
                if isinstance(claim, New):
                    ran.append(name)
                    if not die:
                        ledger.settle(claim, "ran", len(ran))
        return ran

    @pytest.mark.parametrize("name", ["099-retry-reordered-arguments", "101-two-equal-calls-one-turn"])
    def test_one_effect(self, ledger, name):
        case = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
        assert len(self.effects(ledger, case)) == case["expected"]["retry_ledger"]["executions"] == 1
        assert self.effects(ledger, case) == []  # replaying the retry again dispatches none more

    def test_a_death_before_the_record_is_a_doubt(self, ledger):
        case = json.loads((CASES / "100-retry-after-effect-before-record.json").read_text(encoding="utf-8"))
        expected = case["expected"]["retry_ledger"]
        assert len(self.effects(ledger, case, die=True)) == expected["executions"]
        [entry] = ledger.doubts()
        assert entry.state == expected["state_on_restart"]
        assert ledger.doubt(entry.key, "waited") == Open(entry.key, in_doubt=expected["verdict"] == "in_doubt")

    def test_occurrence_numbers_are_two_effects(self, ledger, attempt):
        dice = [ledger.claim(attempt, "roll", {"sides": 6}, occurrence) for occurrence in (0, 1, 1)]
        assert [type(answer) for answer in dice] == [New, New, Open]


class TestClock:
    """Nothing reads a clock for a decision."""

    def test_with_every_clock_broken(self, ledger, path, monkeypatch):
        def broken(*_):
            raise AssertionError("a clock was read")

        for name in ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"):
            monkeypatch.setattr(time, name, broken)
        attempt = Ledger(path).begin("chat", "m")
        claim = ledger.claim(attempt, "pay", PAY)
        with ledger.running(claim) as run:
            run.result = 7
        again = ledger.claim(attempt, "pay", PAY), ledger.doubt(claim.key, "waited"), ledger.doubts()
        monkeypatch.undo()
        assert again == (Settled(claim.key, "ran", 7), Settled(claim.key, "ran", 7), [])

    @pytest.mark.parametrize("when", ["2099-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000Z", "nonsense"])
    def test_after_the_wall_clock_jumped(self, ledger, attempt, when):
        """Claims that seem to come from the future, or from long ago, are what they were."""
        claims = [ledger.claim(attempt, "pay", {"n": n}) for n in range(3)]
        ledger.settle(claims[1], "ran", 7)
        ledger.settle(claims[2], "in_doubt", "time-out")
        ledger._store._db.execute("UPDATE claims SET claimed_at = ?", (when,))
        answers = [ledger.claim(attempt, "pay", {"n": n}) for n in range(4)]
        assert answers[:3] == [Open(claims[0].key, False), Settled(claims[1].key, "ran", 7), Open(claims[2].key, True)]
        assert isinstance(answers[3], New)
        assert [entry.arguments["n"] for entry in ledger.entries("chat", 0)] == [0, 1, 2, 3]


def test_threads_that_share_a_ledger_get_each_key_once(ledger, attempt):
    answers, start = [], threading.Barrier(6)

    def claim():
        start.wait()
        for n in range(30):
            answers.append((n, ledger.claim(attempt, "pay", {"n": n})))

    threads = [threading.Thread(target=claim) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(n for n, answer in answers if isinstance(answer, New)) == list(range(30))
    assert all(isinstance(answer, New | Open) for _, answer in answers) and len(answers) == 180


RACE = """
import pathlib, time
from streamkit.claims import New
from streamkit.key import idempotency_key
from streamkit.ledger import Ledger
ledger = Ledger(path)
attempt = ledger.begin("chat", "message-1")
proposed = {idempotency_key("chat", 0, "pay", {"n": n}) for n in range(50)}
pathlib.Path(ready).touch()
while not all(pathlib.Path(one).exists() for one in both):
    time.sleep(0.001)
print(*[n for n in range(50) if isinstance(ledger.claim(attempt, "pay", {"n": n}, proposed=proposed), New)])
"""


def test_two_processes_race_for_fifty_keys(tmp_path, path):
    both = [str(tmp_path / "ready-1"), str(tmp_path / "ready-2")]
    won = {}

    def process(ready):
        won[ready] = run_child(RACE, path=str(path), ready=ready, both=both).said.split()

    threads = [threading.Thread(target=process, args=(ready,)) for ready in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, won[both[0]] + won[both[1]])) == list(range(50))


# the exchange of chapter 7: claim, effect at the shop, settle; it prints how it saw the claim
EXCHANGE = """
from streamkit.claims import New, Settled
from streamkit.key import idempotency_key
from streamkit.lab.shop import ShopClient
from streamkit.ledger import Ledger
ledger, shop = Ledger(path), ShopClient(url)
attempt = ledger.begin("chat", "message-1")
reached("before_claim")
arguments = {"order_id": "A-1042", "amount": 12.5}
claim = ledger.claim(attempt, "create_refund", arguments, proposed={idempotency_key("chat", 0, "create_refund", arguments)})
if isinstance(claim, New):
    reached("after_claim")
    receipt = shop.create("refunds", arguments, claim.key)
    reached("after_effect")
    result = {"refund": receipt["id"]}
    reached("before_settle")
    ledger.settle(claim, "ran", result)
    reached("after_settle")
print(type(claim).__name__)
"""


@pytest.mark.parametrize(
    "point, honours", [*((point, True) for point in POINTS), ("after_claim", False), ("after_effect", False)]
)
def test_killed_at_every_point_there_is_one_effect_or_a_doubt(path, point, honours):
    with Shop(honours_keys=honours) as shop:
        assert run_child(EXCHANGE, point, path=str(path), url=shop.url).killed_at == point
        effects = shop.counts()["refunds"]
        assert effects == (point not in ("before_claim", "after_claim"))

        retry = run_child(EXCHANGE, path=str(path), url=shop.url).said.strip()
        assert retry == {"before_claim": "New", "after_settle": "Settled"}.get(point, "Open")
        assert shop.counts()["refunds"] == effects or point == "before_claim"

        ledger, client = Ledger(path), ShopClient(shop.url)
        doubts = ledger.doubts()
        assert len(doubts) == (point in ("after_claim", "after_effect", "before_settle"))  # each doubt is reported
        for entry in doubts:
            ledger.doubt(entry.key, "the holder is dead")
            known = client.void(entry.key)
            if not honours:
                assert known == {"state": "not_kept"}  # nobody can know: it stays a doubt
                continue
            assert known["state"] == ("void" if point == "after_claim" else "done")
            if known["state"] == "done":
                ledger.resolve(entry.key, "ran", {"refund": known["answer"]["id"]})
            else:
                ledger.resolve(entry.key, "failed", "the shop made the key void")
        assert len(ledger.doubts()) == (0 if honours else len(doubts))
        assert shop.counts()["refunds"] == (0 if point == "after_claim" else 1)
        ledger.close()
        client.close()


def test_killed_before_any_line(tmp_path):
    """Seeded lines of the exchange and of the core beneath it: no second effect, and no doubt that is hidden."""
    died = []
    with Shop() as shop:
        client = ShopClient(shop.url)
        for line in random.Random(7).sample(range(220, 430), 5):
            path = tmp_path / f"{line}.db"
            piece = EXCHANGE.replace('"amount": 12.5', f'"amount": {line}')
            died.append(run_child(piece, line, path=str(path), url=shop.url).killed_at)
            saw = run_child(piece, path=str(path), url=shop.url).said.strip()
            ledger = Ledger(path)
            [entry] = ledger.entries("chat", 0)
            effects = [effect for effect in shop.effects("refunds") if effect["amount"] == line]
            assert len(effects) <= 1, died[-1]
            if saw == "Open":
                assert entry.state == "claimed" and len(ledger.doubts()) == 1, died[-1]
                assert (client.ask(entry.key)["state"] == "done") == bool(effects), died[-1]
            else:
                assert (entry.state, len(effects)) == ("ran", 1) and saw in ("New", "Settled"), died[-1]
            ledger.close()
        client.close()
    assert None not in died  # the lines are there: every child was killed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_ledger_opened_before_a_fork_works_on_both_sides(ledger, attempt):
    mine, connection = ledger.claim(attempt, "pay", PAY), ledger._store._db
    child = os.fork()
    if child == 0:
        try:
            ok = ledger.claim(attempt, "pay", PAY) == Open(mine.key, False)
            ok &= isinstance(ledger.claim(attempt, "pay", {"child": 1}), New)
            ok &= ledger._store._db is not connection  # its own: SQLite forbids to carry one across a fork
            ledger.close()
            os._exit(0 if ok else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    ledger.settle(mine, "ran", 7)
    assert [entry.state for entry in ledger.entries("chat", 0)] == ["ran", "claimed"]


class Life(RuleBasedStateMachine):
    """Any order of claims, ends, doubts, deaths and reopenings, beside a model of a dozen lines."""

    claims = Bundle("claims")

    @initialize()
    def open(self):
        from tempfile import TemporaryDirectory

        self.folder = TemporaryDirectory(ignore_cleanup_errors=True)
        self.path = os.path.join(self.folder.name, "ledger.db")
        self.ledger = Ledger(self.path)
        self.attempt = self.ledger.begin("chat", "message-1")
        self.states = {}  # key → (state, result), as it must be

    @rule(target=claims, n=st.integers(0, 5), spelling=st.sampled_from([int, float]))
    def claim(self, n, spelling):
        answer = self.ledger.claim(self.attempt, "pay", {"n": spelling(n)})
        if answer.key not in self.states:
            assert isinstance(answer, New)
            self.states[answer.key] = ("claimed", None)
            return answer
        state, result = self.states[answer.key]
        open_ = state in ("claimed", "in_doubt")
        assert answer == (Open(answer.key, state == "in_doubt") if open_ else Settled(answer.key, state, result))
        return New(answer.key, "a token that is none")

    @rule(claim=claims, state=st.sampled_from(["ran", "failed", "in_doubt"]), result=st.integers())
    def settle(self, claim, state, result):
        may = len(claim.token) == 32 and self.states[claim.key][0] in ("claimed", "in_doubt")
        self.attempted(may, claim.key, state, result, lambda: self.ledger.settle(claim, state, result))

    @rule(claim=claims, state=st.sampled_from(["ran", "failed"]), result=st.integers())
    def resolve(self, claim, state, result):
        may = self.states[claim.key][0] == "in_doubt"
        self.attempted(may, claim.key, state, result, lambda: self.ledger.resolve(claim.key, state, result))

    @rule(claim=claims)
    def wait_in_vain(self, claim):
        self.ledger.doubt(claim.key, "waited")
        if self.states[claim.key][0] == "claimed":
            self.states[claim.key] = ("in_doubt", "waited")

    @rule(claim=consumes(claims))
    def holder_dies(self, claim):
        """Its token is gone for ever."""

    @rule()
    def reopen(self):
        self.ledger.close()
        self.ledger = Ledger(self.path)

    @invariant()
    def the_file_says_what_happened(self):
        entries = self.ledger.entries("chat", 0)
        assert {entry.key: (entry.state, entry.result) for entry in entries} == self.states
        doubts = [entry.key for entry in self.ledger.doubts()]
        assert doubts == [entry.key for entry in entries if entry.state in ("claimed", "in_doubt")]

    def attempted(self, may, key, state, result, act):
        if may:
            act()
            self.states[key] = (state, result)
        else:
            with pytest.raises(NotHeld):
                act()

    def teardown(self):
        self.ledger.close()
        self.folder.cleanup()


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)


def load_torture():
    spec = importlib.util.spec_from_file_location("ledger_torture", ROOT / "benchmarks" / "ledger_torture.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_torture_in_short():
    bench = load_torture()
    seen = bench.torture(20, seed=random.randrange(10**6), quiet=True)
    assert {what: seen[what] for what in bench.VIOLATIONS} == dict.fromkeys(bench.VIOLATIONS, 0)
    assert seen["workers with an error"] == 0 and seen["workers killed"] > 5 and seen["calls ran, 1 effect"] > 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_torture_finds_what_a_naive_ledger_does():
    seen = load_torture().torture(20, ledger="naive", quiet=True)
    assert seen["double effects"] > 0
