"""`streamkit gaps`: the same figures from captures, tables and Dask, and a clear word about every bad table."""

import csv
import importlib.util
import json
from collections import Counter

import pytest

from streamkit.__main__ import main
from streamkit.lab.captures import find_captures, read_capture
from streamkit.lab.latency import gaps, texts, times
from streamkit.lab.paths import CAPTURES
from streamkit.lab.sources import dask_map, files_of, measured
from streamkit.lab.summary import Summary, median_interval, percentile

HEAD = "call,tool,at,fragment,completed\n"


def run(capsys, *words):
    status = main(["gaps", *map(str, words)])
    told = capsys.readouterr()
    return status, told.out, told.err


@pytest.fixture
def table(tmp_path):
    """Write rows as a table; its path."""

    def write(rows: str, head: str = HEAD):
        path = tmp_path / "table.csv"
        path.write_text(head + rows)
        (tmp_path / "tools.json").write_text(json.dumps([{"name": "t", "parameters": {"required": ["a"]}}]))
        return path

    return write


GOOD = 'c1,t,0.1,"{""a"": 1",0.9\nc1,t,0.2,"}",0.9\n'


def test_a_table_gives_its_gap(table, tmp_path, capsys):
    out = tmp_path / "out.csv"
    status, told, _ = run(capsys, table(GOOD), "--tools", tmp_path / "tools.json", "--csv", out)
    (row,) = csv.DictReader(out.open())
    assert (
        status == 0 and float(row["gap_stable"]) == pytest.approx(0.7) and float(row["gap_begun"]) == pytest.approx(0.8)
    )
    assert row["boundary"] == "call" and " 700 " in told


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ('c1,t,0.2,"}",0.9\nc1,t,0.1,"{""a"": 1",0.9\n', "1 call whose rows were not in the order of their times"),
        (GOOD.replace("0.2", "nan"), "1 call with a fragment without a time"),
        (GOOD.replace("0.2", ""), "1 call with a fragment without a time"),
        (GOOD.replace("0.9", "0.15"), "1 call completed before the arguments had parsed"),
        (GOOD.replace(",0.9", ","), "1 call without a completion time"),
        (GOOD.replace("c1,t", "c1,u"), "1 call of a tool that the schemas do not name"),
    ],
)
def test_a_stated_repair(table, tmp_path, capsys, rows, said):
    good_too = GOOD.replace("c1", "c2")
    status, told, _ = run(capsys, table(rows + good_too), "--tools", tmp_path / "tools.json")
    assert status == 0 and said in told


def test_without_schemas_it_says_so_and_names_the_option(table, tmp_path, capsys):
    """Nothing may be said of required fields that nobody knows."""
    path = table(GOOD + GOOD.replace("c1", "c2"))
    bare, known = run(capsys, path)[1], run(capsys, path, "--tools", tmp_path / "tools.json")[1]
    assert "No schemas were given" in bare and "first character" in bare and "--tools" in bare
    assert "all required fields had closed" not in bare and bare.count("--tools") == 1
    assert "all required fields had closed" in known and "--tools" not in known
    mixed = run(capsys, path, CAPTURES)[1]
    assert "all required fields had closed" in mixed and "2 calls of a table without --tools" in mixed


@pytest.mark.parametrize(("unit", "noted"), [(1, False), (1000, True)])
def test_times_in_milliseconds_are_noted_and_left(table, tmp_path, capsys, unit, noted):
    rows = "".join(f'c{n},t,{0.1 * unit},"{{""a"": 1}}",{0.9 * unit}\n' for n in range(3))
    status, told, _ = run(capsys, table(rows), "--tools", tmp_path / "tools.json")
    assert status == 0 and f" {800 * unit} " in told
    assert ("Are these times milliseconds?" in told) == noted


@pytest.mark.parametrize("nothing", ['" "', "nan", "inf"])
def test_a_completion_that_is_no_time_is_none(table, tmp_path, capsys, nothing):
    """As a number it would have made the percentiles of all calls none."""
    rows = GOOD.replace("c1", "c2") + f"c3,t,1,{{}},{nothing}\n"
    status, told, _ = run(capsys, table(rows))
    assert status == 0 and "nan" not in told and "1 call without a completion time" in told


def test_mixed_calls_are_taken_apart(table, tmp_path, capsys):
    lines = [
        GOOD.splitlines()[0],
        GOOD.replace("c1", "c2").splitlines()[0],
        GOOD.splitlines()[1],
        GOOD.replace("c1", "c2").splitlines()[1],
    ]
    status, told, _ = run(capsys, table("\n".join(lines) + "\n"), "--tools", tmp_path / "tools.json")
    assert status == 0 and told.splitlines()[2].split()[:4] == ["all", "2", "2", "700"]


@pytest.mark.parametrize(
    ("rows", "head", "said"),
    [
        ("", HEAD, "there are none"),
        ("1,2\n", "call,at\n", "tool, fragment not there"),
        ("", "", "the file is empty; a table begins with a line that names its columns: call,tool,at,fragment"),
        ("", "\n", "its first line is empty; a table begins with"),
        (
            "c1;t;0,1;x\n",
            "call;tool;at;fragment\n",
            "commas were expected between the columns, this table has semicolons",
        ),
        ("c1;t;0,1;x\n", '"call";"tool";"at";"fragment"\n', "this table has semicolons"),
        ("c1\tt\t1\tx\n", "call\ttool\tat\tfragment\n", "this table has tabs"),
        ("c1,t,soon,x,\n", HEAD, "line 2: seconds were expected, 'soon' came"),
        ("c1,t,\x9b2J,x,\n", HEAD, r"seconds were expected, '\x9b2J' came"),
        ("1,2\n", 'call,"a\u202e\nb"\n', r"it has call, 'a\u202e\nb'"),
        (",t,1,x,\n", HEAD, "line 2: a call was expected"),
        ("c1,t,1,x,\nc1,u,2,x,\n", HEAD, "line 3: call 'c1' is of tool 't' above and of 'u' here"),
    ],
)
def test_a_bad_table_is_one_clear_line(table, capsys, rows, head, said):
    status, _, told = run(capsys, table(rows, head))
    assert status == 2 and said in told and told.count("\n") == 1


@pytest.mark.parametrize("text", ["{", "[1]", '{"a": 1}', '[{"title": "x"}]'])
def test_bad_schemas_are_one_clear_line(table, tmp_path, capsys, text):
    path = table(GOOD)
    (tmp_path / "tools.json").write_text(text)
    status, _, told = run(capsys, path, "--tools", tmp_path / "tools.json")
    assert status == 2 and "a JSON list of tools was expected" in told


def test_a_missing_file(tmp_path, capsys):
    assert run(capsys, tmp_path / "none.csv")[0] == 2
    assert run(capsys, tmp_path / "none")[0] == 2


def test_a_bare_stream_has_characters_and_no_times(tmp_path, capsys):
    capture = next(c for p in find_captures(CAPTURES) if (c := read_capture(p)).api == "openai-chat" and c.turn().calls)
    (tmp_path / "bare.sse").write_bytes(capture.body)
    assert run(capsys, tmp_path / "bare.sse")[0] == 2
    status, told, _ = run(capsys, tmp_path / "bare.sse", "--api", "openai-chat", "--csv", tmp_path / "out.csv")
    rows = list(csv.DictReader((tmp_path / "out.csv").open()))
    assert status == 0 and "–" in told
    assert [int(row["characters"]) for row in rows] == [len(call.text) for call in capture.turn().calls]
    assert {row["stable"] for row in rows} == {""}


def test_captures_and_the_table_made_of_them_agree(tmp_path, capsys):
    """The figures of the captures, and those of the same calls as a plain table."""
    rows, tools = [], {}
    for path in find_captures(CAPTURES):
        capture = read_capture(path)
        tools |= {tool["name"]: tool for tool in capture.tools}
        frame = gaps([capture])
        for call, (_, row) in zip(
            (c for c in capture.turn().calls if c.kind == "client"), frame.iterrows(), strict=True
        ):
            if row["gap_stable"] == row["gap_stable"] and row["gap_stable"] is not None:
                rows += [
                    (f"{path.stem}/{call.ordinal}", call.name, at, text, row["completed"])
                    for at, text in zip(times(call), texts(call), strict=True)
                ]
    with (tmp_path / "own.csv").open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerows([("call", "tool", "at", "fragment", "completed"), *rows])
    (tmp_path / "tools.json").write_text(json.dumps(list(tools.values())))
    _, of_table, _ = run(capsys, tmp_path / "own.csv", "--tools", tmp_path / "tools.json")
    _, of_captures, _ = run(capsys, CAPTURES)
    assert of_table.split("\n")[2].split()[2:] == of_captures.split("\n")[2].split()[2:]


def test_the_turn_boundary_is_never_before_the_call_boundary():
    for path in find_captures(CAPTURES):
        call, turn = gaps([read_capture(path)]), gaps([read_capture(path)], "turn")
        assert (turn["completed"].fillna(0) >= call["completed"].fillna(0)).all()


@pytest.mark.skipif(importlib.util.find_spec("dask") is None, reason="the extra `scale` (dask) is not installed")
def test_dask_gives_the_same_rows():
    files = files_of([str(CAPTURES)], None)[:12]
    plain = list(measured(files, "call", None, {}, Counter()))
    assert list(measured(files, "call", None, {}, Counter(), run=dask_map(workers=2))) == plain


def test_without_dask_one_clear_line(monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "dask", None)
    status, _, told = run(capsys, CAPTURES, "--engine", "dask")
    assert status == 2 and "streamkit[scale]" in told


def test_breaking_off_leaves_what_was_done(tmp_path, capsys, monkeypatch):
    from streamkit.lab.commands import gaps as command

    def two_then_stop(*args):
        for number, row in enumerate(measured(*args)):
            if number == 2:
                raise KeyboardInterrupt
            yield row

    monkeypatch.setattr(command, "measured", two_then_stop)
    status, told, _ = run(capsys, CAPTURES, "--csv", tmp_path / "out.csv")
    assert status == 130 and "measured until then: 2 calls" in told
    assert len(list(csv.DictReader((tmp_path / "out.csv").open()))) == 2


def test_percentiles_and_the_interval_of_the_median():
    values = [n / 1000 for n in range(1, 102)]
    assert percentile(values, 50) == pytest.approx(51)
    low, high = median_interval(values)
    assert 35 < low < 51 < high < 67 and (low, high) == median_interval(values)
    assert percentile([], 50) is None and median_interval([]) == (None, None)


def test_groups():
    summary = Summary("api")
    for api, gap in (("b", 0.2), ("a", 0.1), ("a", 0.3)):
        summary.add({"api": api, "gap_begun": gap, "gap_stable": gap, "same_read": False})
    assert [(row["api"], row["calls"], row["p50"]) for row in summary.table()] == [
        ("a", 2, 200.0),
        ("b", 1, 200.0),
        ("all", 3, 200.0),
    ]
