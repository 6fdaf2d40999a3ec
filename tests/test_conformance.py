"""Every case and every open recorded stream: whole, byte by byte, and cut anew."""

import json

import pytest
from conftest import ALL_CASES, corpus_folder

from streamkit.__main__ import main
from streamkit.lab.cases import judge
from streamkit.lab.paths import CAPTURES, CASES, DATA


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case["name"])
def test_case(case):
    assert judge(case) is None
    assert judge(case, bytewise=True) is None
    assert all(judge(case | {"name": f"{case['name']} {n}"}, cut=5) is None for n in range(20))


@pytest.mark.parametrize("how", [{}, {"cut": 5}, {"bytewise": True}], ids=str)
def test_corpus(corpus, how):
    failed = {case["name"]: found for case in corpus if (found := judge(case, **how)) is not None}
    assert not failed


def test_the_command_counts_and_succeeds(capsys):
    assert main(["cases", str(CASES)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "74 of 74 pass"


def test_the_command_names_the_first_difference(tmp_path, capsys):
    case = json.loads((CASES / "053-length-mid-arguments.json").read_text())
    case["expected"]["reason"] = "stop"
    (tmp_path / "wrong.json").write_text(json.dumps(case))
    assert main(["cases", str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        '053-length-mid-arguments: reason: "stop" expected, "length" came',
        "0 of 1 pass",
    ]


def test_cases_and_show_name_each_other_for_what_is_the_others(capsys):
    assert main(["cases", str(CAPTURES)]) == 2
    assert "this is a capture; `streamkit show` reads it" in capsys.readouterr().err
    for path in (CASES / "053-length-mid-arguments.json", DATA / "tools.json"):
        assert main(["show", str(path)]) == 2
        said = capsys.readouterr().err
        assert "this is no capture" in said and "`streamkit cases`" in said and "not JSON" not in said


def test_emit_needs_no_expectation(capsys):
    folder = corpus_folder()
    if folder is None:
        pytest.skip("STREAMKIT_CORPUS names no folder of recorded streams")
    blind = sorted((folder / "blind").glob("*.jsonl"))
    assert main(["cases", "--emit", *map(str, blind)]) == 0
    seen = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(seen) == 378
    assert all(set(one) == {"name", "calls", "text", "turn", "reason"} for one in seen)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "JSON object"),
        ("[" * 100_000, "JSON object"),
        ("[]", "list"),
        ('{"api": "openai"}', "'openai'"),
        ('{"api": "gemini"}', "chunks"),
    ],
)
def test_bad_input_is_one_clear_line(tmp_path, capsys, text, said):
    (tmp_path / "bad.json").write_text(text)
    assert main(["cases", str(tmp_path)]) == 2
    assert said in (line := capsys.readouterr().err) and line.count("\n") == 1


def test_a_missing_path_and_an_empty_folder(tmp_path, capsys):
    assert main(["cases", str(tmp_path / "none")]) == 2
    assert main(["cases", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 2
