"""One rule: a key that is honoured has one effect, whatever is sent, lost or asked."""

import json
import signal
import socket
import subprocess
import sys
import threading

import httpx
import pytest

from streamkit.claims import NotDone
from streamkit.lab.problem import Problem
from streamkit.lab.shop import KINDS, Shop, ShopClient

REFUND = {"order_id": "A-1042", "amount": 12.5}


@pytest.fixture
def shop():
    with Shop() as shop:
        yield shop


@pytest.fixture
def client(shop):
    client = ShopClient(shop.url)
    yield client
    client.close()


def raw(shop, method="POST", path="/refunds", body=REFUND, **headers):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return httpx.request(method, shop.url + path, content=content, headers=headers, trust_env=False)


def test_each_kind_has_its_effects_and_ids(shop, client):
    for kind, letter in KINDS.items():
        assert client.create(kind, {"n": 1}) == {"n": 1, "id": f"{letter}-1001"}
        assert client.create(kind, {"n": 1})["id"] == f"{letter}-1002"
    assert client.counts() == shop.counts() == dict.fromkeys(KINDS, 2)
    assert shop.effects("orders") == [{"n": 1, "id": "A-1001", "key": None}, {"n": 1, "id": "A-1002", "key": None}]


def test_a_key_that_is_honoured_has_one_effect(shop, client):
    first = client.create("refunds", REFUND, "k")
    again = raw(shop, body=dict(reversed(REFUND.items())), Idempotency_Key="k")
    assert (again.status_code, again.json()) == (200, first) and again.headers["Idempotent-Replayed"] == "true"
    assert raw(shop, Idempotency_Key='"k"').json() == first  # the form of the HTTP working group's draft
    assert client.create("refunds", REFUND, "another")["id"] != first["id"]
    assert shop.counts()["refunds"] == 2


def test_a_key_that_is_not_honoured_has_many(shop, client):
    shop.honours_keys = False
    ids = {client.create("refunds", REFUND, "k")["id"] for _ in range(3)}
    assert len(ids) == shop.counts()["refunds"] == 3
    assert client.ask("k") == client.void("k") == {"state": "not_kept"}


def test_one_key_for_two_requests_is_refused(shop, client):
    client.create("refunds", REFUND, "k")
    for kind, body in (("refunds", {**REFUND, "amount": 13}), ("tickets", REFUND)):
        with pytest.raises(NotDone, match="422"):
            client.create(kind, body, "k")
    assert shop.counts() == {"orders": 0, "refunds": 1, "tickets": 0}


def test_racing_requests_with_one_key_have_one_effect(shop):
    start, answers = threading.Barrier(8), []

    def send():
        client = ShopClient(shop.url)
        start.wait()
        answers.append(client.create("refunds", REFUND, "k")["id"])
        client.close()

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8 and set(answers) == {"R-1001"} and shop.counts()["refunds"] == 1


def test_a_lost_answer_leaves_a_doubt_that_the_key_resolves(shop, client):
    shop.lose = 1
    with pytest.raises(httpx.RemoteProtocolError):
        client.create("refunds", REFUND, "k")
    assert client.ask("k") == {"state": "done", "answer": {**REFUND, "id": "R-1001"}}
    assert client.void("k")["state"] == "done"  # what is done cannot be made void
    assert client.create("refunds", REFUND, "k")["id"] == "R-1001" and shop.counts()["refunds"] == 1


def test_a_late_answer_is_an_effect_all_the_same(shop):
    shop.delay = 30
    client = ShopClient(shop.url, timeout=0.2)
    with pytest.raises(httpx.ReadTimeout):
        client.create("refunds", REFUND, "k")
    assert client.ask("k")["state"] == "done"
    client.close()


def test_a_void_key_can_never_have_an_effect(shop, client):
    assert client.ask("k") == {"state": "unknown"}
    assert client.void("k") == client.void("k") == client.ask("k") == {"state": "void"}
    with pytest.raises(NotDone, match=r"409.*void"):
        client.create("refunds", REFUND, "k")
    assert shop.counts()["refunds"] == 0


@pytest.mark.parametrize(
    "request_, status",
    [
        ({"path": "/cakes"}, 404),
        ({"path": "/refunds/1"}, 404),
        ({"path": "/refunds; DROP TABLE refunds"}, 404),
        ({"path": "/keys"}, 404),
        ({"method": "GET", "path": "/keys/a%20b"}, 400),
        ({"Idempotency_Key": "x" * 256}, 400),
        ({"Idempotency_Key": ""}, 400),
        ({"body": b"{"}, 400),
        ({"body": b"[1]"}, 400),
        ({"body": b'{"a":1,"a":2}'}, 400),
        ({"body": b"\xff"}, 400),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ({"Host": "shop.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"method": "GET", "path": "/effects", "Host": "shop.example:80"}, 421),
        ({"method": "PUT"}, 501),
    ],
    ids=str,
)
def test_what_is_refused_did_nothing(shop, request_, status):
    answer = raw(shop, **request_)
    assert answer.status_code == status
    assert status == 501 or answer.json()["error"].startswith("expected")
    assert shop.counts() == dict.fromkeys(KINDS, 0)


@pytest.mark.parametrize(
    "length", ["", "Content-Length: 9999999\r\n", "Content-Length: -1\r\n", "Content-Length: x\r\n"]
)
def test_a_body_without_end_is_not_read(shop, length):
    with socket.create_connection(("127.0.0.1", shop.port), timeout=5) as line:
        line.sendall(f"POST /refunds HTTP/1.1\r\nHost: 127.0.0.1:{shop.port}\r\n{length}\r\n".encode())
        assert b" 413 " in line.makefile("rb").readline()
    assert shop.counts()["refunds"] == 0


def test_it_listens_on_this_machine_alone(shop):
    assert shop._server.server_address[0] == "127.0.0.1"


def test_nobody_there_is_not_done(shop, client):
    shop.stop()
    shop.stop()  # a second cell that stops it is no error
    with pytest.raises(NotDone, match="nobody answers"):
        client.create("refunds", REFUND, "k")


def test_its_file_outlives_it(tmp_path):
    for number in (1, 2):
        with Shop(tmp_path / "shop.db") as shop:
            client = ShopClient(shop.url)
            client.create("tickets", {"subject": "lamp"}, "k")
            client.create("tickets", {"subject": "lamp"})
            client.close()
            assert shop.counts()["tickets"] == 1 + number


def test_what_it_cannot_use_is_a_problem(tmp_path, shop):
    (tmp_path / "notes.txt").write_text("not a database, but long enough to be taken for one" * 20)
    with pytest.raises(Problem, match=r"shop .*notes\.txt.*expected a shop"):
        Shop(tmp_path / "notes.txt")
    for port in (shop.port, 99_999):
        with pytest.raises(Problem, match=f"expected a free port on 127.0.0.1, got {port}"):
            Shop(port=port)


def test_as_a_process_of_its_own(tmp_path):
    command = [sys.executable, "-m", "streamkit.lab.shop", "--file", str(tmp_path / "shop.db"), "--ignore-keys"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            client = ShopClient(process.stdout.readline().strip())
            assert [client.create("orders", {}, "k")["id"] for _ in range(2)] == ["A-1001", "A-1002"]
            client.close()
        finally:
            process.kill()
    with Shop(tmp_path / "shop.db") as shop:  # it was killed, and what it did is there
        assert shop.counts()["orders"] == 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for another process")
def test_the_process_ends_quietly_on_ctrl_c():
    command = [sys.executable, "-m", "streamkit.lab.shop"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=10) == ("", "") and process.returncode == 130


def test_a_wrong_file_is_one_line_and_status_2(tmp_path):
    command = [sys.executable, "-m", "streamkit.lab.shop", "--file", str(tmp_path / "no" / "shop.db")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "expected a file in a folder" in done.stderr
