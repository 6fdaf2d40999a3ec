"""The capture format: what is written is read back, and each malformed line is refused with file, line and reason."""

import gzip
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamkit.lab.capture_lines import ENDINGS, CaptureWriter, End, stream_capture
from streamkit.lab.captures import SUFFIXES, find_captures, load, read_capture, stem, write_capture
from streamkit.lab.paths import CAPTURES, DATA
from streamkit.lab.problem import Problem

HEADER = {"api": "openai-chat", "model": "m"}
FIRST = '{"format":"streamkit-capture","version":1,"api":"openai-chat"}'
LOCAL = r"""["' =(:](?:file:|~/|/[A-Za-z_.]+/[A-Za-z_.]|[A-Za-z]:\\)|\.gguf|\.cache"""
SECRET = r"(?i)\b(?:sk|pk|ghp|gho|xox[bp])[-_][a-z0-9_-]{8,}|bearer\s+\w|authorization|x-api-key|set-cookie"
STORED = sorted(path for suffix in SUFFIXES for path in DATA.rglob("*" + suffix))


@given(
    reads=st.lists(
        st.tuples(st.floats(0, 1e6), st.binary(max_size=40) | st.text(max_size=20).map(str.encode)), max_size=8
    ),
    ending=st.sampled_from(ENDINGS),
    suffix=st.sampled_from(SUFFIXES),
)
def test_what_is_written_is_read_back(tmp_path_factory, reads, ending, suffix):
    reads = sorted(reads, key=lambda read: read[0])
    path = tmp_path_factory.getbasetemp() / f"round{suffix}"
    write_capture(path, HEADER, reads, 1e6, ending)
    back = read_capture(path)
    assert [read.data for read in back.reads] == [data for _, data in reads]
    assert [read.at for read in back.reads] == pytest.approx([at for at, _ in reads], abs=1e-6)
    assert (back.header["api"], back.ending, back.ended_at) == ("openai-chat", ending, 1e6)
    raw = gzip.decompress(path.read_bytes()) if suffix.endswith(".gz") else path.read_bytes()
    assert all(byte == 10 or 32 <= byte < 127 for byte in raw)  # no byte of it can move a terminal's cursor


def test_the_same_capture_is_the_same_compressed_file(tmp_path, monkeypatch):
    written = []
    for name, now in (("a.jsonl.gz", 1.0), ("b.jsonl.gz", 2e9)):
        monkeypatch.setattr("time.time", lambda now=now: now)
        written.append(write_capture(tmp_path / name, HEADER, [(0.1, b"x")], 0.2, "clean").read_bytes())
    assert written[0] == written[1]


def test_a_split_character_is_kept_as_base64(tmp_path):
    euro = "€".encode()
    path = write_capture(tmp_path / "c.jsonl", HEADER, [(0.1, euro[:1]), (0.2, euro[1:]), (0.3, euro)], 0.4, "clean")
    assert [json.loads(line)[1] for line in path.read_text().splitlines()[1:]] == ["data64", "data64", "data", "end"]
    assert read_capture(path).body == euro * 2


def test_the_reader_streams(tmp_path):
    """The header comes before the rest of the file is looked at, so a broken tail does not hide it."""
    path = tmp_path / "c.jsonl"
    path.write_text(FIRST + '\n[0.1,"data","x"]\nrubbish\n')
    lines = stream_capture(path)
    assert next(lines)["api"] == "openai-chat"
    assert next(lines).data == b"x"
    with pytest.raises(Problem, match="line 3"):
        next(lines)


def test_a_killed_writer_leaves_what_had_arrived(tmp_path):
    writer = CaptureWriter(tmp_path / "c.jsonl", HEADER)
    writer.read(0.5, b"data: x\n\n")
    lines = stream_capture(tmp_path / "c.jsonl")  # nothing was closed
    assert [next(lines)["model"], next(lines).data] == ["m", b"data: x\n\n"]
    with pytest.raises(Problem, match=r'line 2: .*without an "end" line.*\[0\.5, "end", "disconnect"\]'):
        next(lines)
    writer.close()


BAD = {  # the file's lines → where, and a word of the reason
    "": "empty",
    "\x00": "line 1: this is no capture",
    "[\n 1\n]": r"line 1: this is no capture: one begins with a header object .* `streamkit cases`; got '\['",
    "[1,2]": "line 1: expected the header, .* `streamkit cases`",
    '{"api":"openai-chat"}': "line 1: expected a header with format .* `streamkit cases`",
    FIRST.replace('"version":1', '"version":2'): "line 1: expected version 1, got 2",
    FIRST.replace("openai-chat", "openai-chatter"): "line 1: unknown api 'openai-chatter'; known: openai-chat",
    FIRST.replace('"openai-chat"', '["openai-chat"]'): "line 1: unknown api",
    FIRST[:-1] + ',"tools":[{"parameters":{}}]}': "line 1: tools must be",
    FIRST[:-1] + ',"top_p":1e400}': "line 1: a number in the header that JSON does not have",
    FIRST[:-1] + ',"top_p":NaN}': "line 1: a number in the header that JSON does not have",
    FIRST + "\n\n": "line 2: not JSON",
    FIRST + '\n[0.1,"data","x"': "line 2: not JSON at column",
    FIRST + '\n{"at":1}': r"line 2: expected \[seconds",
    FIRST + '\n[0.1,"data"]': r"line 2: expected \[seconds",
    FIRST + '\n["0.1","data","x"]': "line 2: expected a time in seconds, got '0.1'",
    FIRST + '\n[true,"data","x"]': "line 2: expected a time",
    FIRST + '\n[NaN,"data","x"]': "line 2: expected a time",
    FIRST + '\n[-1,"data","x"]': "line 2: expected a time",
    FIRST + '\n[2,"data","x"]\n[1,"data","y"]': "line 3: times must not go back: 1 after 2",
    FIRST + '\n[1,"data",5]': "line 2: expected text in third place",
    FIRST + '\n[1,"date","x"]': "line 2: expected \"data\", .* got 'date'",
    FIRST + '\n[1,"data","\\ud83d"]': "line 2: half a surrogate pair",
    FIRST + '\n[1,"data64","x"]': "line 2: not base64",
    FIRST + '\n[1,"end","broken"]': "line 2: unknown ending 'broken'; known: clean",
    FIRST + '\n[1,"end",["clean"]]': "line 2: expected text",
    FIRST + '\n[1,"end","clean"]\n[2,"data","x"]': 'line 3: nothing may follow the "end" line',
    FIRST + '\n[1,"data","x"]': 'line 2: the file stops without an "end" line',
    FIRST + "\n" + "[" * 100_000: "line 2: ",
    FIRST + '\n[1,"data",' + "9" * 5_000 + "]": "line 2: a number of thousands of digits",
}  # fmt: skip


@pytest.mark.parametrize("name", ["c.jsonl", "c.jsonl.gz"])
def test_a_line_without_end_is_refused_unread(tmp_path, monkeypatch, name):
    """A small compressed file can hold a line that would fill the memory."""
    monkeypatch.setattr("streamkit.lab.capture_lines.LINE", 300)
    good = write_capture(tmp_path / name, HEADER, [(0.1, b"x" * 200)], 0.2, "clean")
    assert read_capture(good).body == b"x" * 200
    long = write_capture(tmp_path / name, HEADER, [(0.1, b"x" * 400)], 0.2, "clean")
    with pytest.raises(Problem, match="line 2: longer than 300 bytes"):
        read_capture(long)


def test_a_tool_that_has_no_schema_is_said_where_the_calls_are_judged(tmp_path):
    header = HEADER | {"tools": [{"name": "pay\x1b[2J", "parameters": {"type": "objekt"}}]}
    capture = read_capture(write_capture(tmp_path / "c.jsonl", header, [], 0.2, "clean"))
    with pytest.raises(Problem, match=r"line 1: tool pay\\x1b\[2J: a JSON Schema was expected at"):
        capture.turn()


@pytest.mark.parametrize("place", range(len(BAD)))
def test_a_malformed_capture_is_refused_with_line_and_reason(tmp_path, place):
    text, reason = list(BAD.items())[place]
    path = tmp_path / "bad.jsonl"
    path.write_text(text, newline="")
    with pytest.raises(Problem) as caught:
        read_capture(path)
    said = str(caught.value)
    assert said.startswith(str(path)) and re.search(reason, said)
    assert said.isprintable() and len(said) < len(str(path)) + 250


def test_bytes_that_are_no_text_and_no_gzip(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(FIRST.encode() + b'\n[1,"data","\xff"]\n')
    (tmp_path / "b.jsonl.gz").write_bytes(b"not gzip")
    whole = gzip.compress((FIRST + "\n" + '[1,"data","x"]\n' * 90 + '[1,"end","clean"]\n').encode())
    (tmp_path / "c.jsonl.gz").write_bytes(whole[:-20])
    for name, reason in {
        "a.jsonl": "line 2: not UTF-8",
        "b.jsonl.gz": "not a gzip file",
        "c.jsonl.gz": "cut or damaged",
    }.items():
        with pytest.raises(Problem, match=reason):
            read_capture(tmp_path / name)


def test_line_ends_of_another_system_are_read(tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_bytes(FIRST.encode() + b'\r\n[1,"data","a\\u2028b"]\r\n[1,"end","clean"]\r\n')
    assert read_capture(path).body == "a\u2028b".encode()


def test_captures_are_found_by_folder_file_and_name(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    two = write_capture(inner / "b.jsonl.gz", HEADER, [], 0, "clean")
    one = write_capture(tmp_path / "a.jsonl", HEADER, [], 0, "clean")
    (tmp_path / "notes.txt").write_text("x")
    assert find_captures(tmp_path) == [one, two]
    assert find_captures(two, tmp_path) == [two, one]
    assert find_captures("chat-two-searches") == [CAPTURES / "chat-two-searches.jsonl"]
    (tmp_path / "empty").mkdir()
    for path, reason in (
        (tmp_path / "none.jsonl", "no such file"),
        (tmp_path / "empty", "no captures in this folder"),
        ("chat-two-serches", "did you mean chat-two-searches"),
    ):
        with pytest.raises(Problem, match=reason):
            find_captures(path)


def test_a_capture_is_loaded_by_name():
    assert load("messages-two-searches").api == "anthropic-messages"
    with pytest.raises(Problem, match="no capture named"):
        load("nothing of the kind")


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.name)
def test_each_stored_capture_says_where_it_is_from_and_keeps_no_secret(path):
    text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    lines = list(stream_capture(path))
    header = lines[0]
    assert isinstance(lines[-1], End)
    assert header["licence"] and header["note"] and header["scenario"] and header["status"] == 200
    assert {"at", "machine", "load", "versions"} <= header["recorded"].keys()
    assert "seed" in header["request"]["body"] and header["server"].startswith("xllamacpp")
    everything = text + b"".join(read.data for read in lines[1:-1]).decode("utf-8", "replace")
    assert not re.search(LOCAL, everything), re.search(LOCAL, everything)
    assert not re.search(SECRET, everything), re.search(SECRET, everything)


def test_the_captures_are_the_scenarios_and_their_documentation_names_each():
    names = {stem(path) for path in CAPTURES.iterdir()}
    assert {path.suffix for path in CAPTURES.iterdir()} == {".jsonl"}  # captures and nothing else
    assert len(names) >= 60 and {name.partition("-")[0] for name in names} == {"chat", "messages", "responses"}
    documented = set(re.findall(r"^\| `([a-z-]+)` \|", (DATA / "README.md").read_text("utf-8"), re.MULTILINE))
    assert {load(name).header["scenario"] for name in names} == documented


def test_the_parts_of_an_exchange_belong_together():
    """The second request holds the first response's calls, by their own ids, and a result for each."""
    parts = {}
    for path in CAPTURES.iterdir():
        capture = read_capture(path)
        if "exchange" in capture.header:
            parts.setdefault(capture.header["exchange"], {})[capture.header["part"]] = capture
    assert len(parts) == 12 and all(set(exchange) == {1, 2} for exchange in parts.values())
    for exchange in parts.values():
        calls = exchange[1].turn().calls
        request = json.dumps(exchange[2].header["request"]["body"])
        assert calls and all(request.count(call.id) == 2 for call in calls)
        assert exchange[2].turn().text and not exchange[2].turn().calls
        assert exchange[1].header["request"]["body"]["seed"] == exchange[2].header["request"]["body"]["seed"]


@pytest.mark.parametrize(
    ("file", "groups", "answers"), [("resamples/resamples.ndjson", 6, 40), ("histories/replays.ndjson", 5, 100)]
)
def test_the_answers_to_retries_are_all_there(file, groups, answers):
    """A line with the request, then one for each seed; no scripted answer and no secret among them."""
    text = (DATA / file).read_text("utf-8")
    assert not re.search(LOCAL, text) and not re.search(SECRET, text)
    lines = [json.loads(line) for line in text.splitlines()]
    heads = [place for place, line in enumerate(lines) if "request" in line]
    assert heads == [group * (answers + 1) for group in range(groups)]
    for start in heads:
        head, came = lines[start], lines[start + 1 : start + 1 + answers]
        assert {"at", "machine", "load"} <= head["recorded"].keys() and head["server"] and head["licence"]
        assert [line["seed"] for line in came] == list(range(1, answers + 1))
        same = [key for key in ("turn", "temperature", "history") if key in head]
        assert all(line[key] == head[key] for line in came for key in same)
        if head.get("temperature") != 0.0:
            assert len({json.dumps([line["text"], line["calls"]]) for line in came}) > 3
