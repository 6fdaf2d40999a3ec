"""The whole kit end to end, with the package's parts, a learner's, and naive ones; and the score of each."""

import pytest

from streamkit.accumulator import Accumulator
from streamkit.finalise import Ready, finalise
from streamkit.history import problems
from streamkit.lab.answers import Keyed, SmallLedger, call_key, history_of, render
from streamkit.lab.capstone import Parts, run_exchange
from streamkit.lab.captures import load
from streamkit.lab.closing import close
from streamkit.lab.replays import LABELS, interval, verdicts
from streamkit.lab.score import lacking, peers, score, score_chart
from streamkit.lab.shop import Shop, ShopClient


def naive_finalise(text, name="", tools=None, complete=True):
    """Closes what is cut and asks no schema."""
    value = close(text)
    return Ready(value if isinstance(value, dict) else {})


@pytest.mark.parametrize("accumulator", [Accumulator, Keyed], ids=["the package's", "a learner's"])
@pytest.mark.parametrize("exchange", ["chat-exchange-refund", "messages-exchange-refund", "responses-exchange-ticket"])
def test_three_attempts_have_one_effect_and_true_histories(tmp_path, exchange, accumulator):
    parts = Parts(accumulator, finalise, render, call_key, SmallLedger(str(tmp_path / "ledger.db")), history_of)
    told = []
    with Shop() as shop:
        client = ShopClient(shop.url)
        first, second = load(f"{exchange}-1"), load(f"{exchange}-2")
        run_exchange(parts, first, second, client, "c", told.append)
        assert sum(client.counts().values()) == 1
    assert [one.ledger for one in told] == [[], ["new"], ["settled"]]
    assert "cut off" in told[0].screen and "ran" in told[2].screen
    assert problems(told[2].history, first.api) == []


def test_the_packages_parts_pass_every_case():
    result = score()
    assert (result.passed, result.total, result.policy_passed, result.policy_total) == (61, 61, 13, 13)


def test_a_naive_kit_scores_visibly_lower_and_is_told_what_it_lacks():
    naive = score(Keyed, naive_finalise)
    assert naive.passed < 40 and len(lacking(naive)) >= 4
    assert sum(lacking(naive).values()) == len(naive.failed)


def test_a_part_that_raises_fails_its_cases_and_no_more():
    def raises(*_, **__):
        raise KeyError("x")

    result = score(finalise=raises)
    assert 0 < result.passed < 20
    assert any("KeyError" in found for found in result.failed.values())


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
