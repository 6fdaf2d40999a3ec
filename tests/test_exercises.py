"""What check, hint, reveal and use say of anything a learner may write. None of them raises, and each ends."""

import sys
import time
from types import SimpleNamespace

import pytest

from streamkit.events import CallDelta
from streamkit.lab.exercises import judge, run, show, verbs
from streamkit.lab.exercises.cells import SESSION, Session, name_of, plain, stub_line
from streamkit.lab.exercises.pieces import JUDGED, RECORD, Pieces
from streamkit.lab.exercises.record import Case, Exercise, Wrong, definition
from streamkit.lab.exercises.state import state_of

pytest_plugins = ["small.fixtures"]

RIGHT = '# exercise: join-fragments\ndef join(fragments):\n    return "".join(fragments)\n'


def none(name):
    return None


def judged(registry, body, name="join-fragments", mine=none):
    """The state of a cell that holds this code."""
    return state_of(registry.exercises()[name], f"# exercise: {name}\n{body}", mine)


def ran(text, ok=True, cell="a"):
    """As if a cell had been run in the kernel."""
    info = SimpleNamespace(raw_cell=text, cell_id=cell)
    SESSION.before(info)
    if ok is not None:
        SESSION.after(SimpleNamespace(info=info, success=ok))


# Which cell is which exercise.


@pytest.mark.parametrize(
    "source",
    [
        "# exercise: join-fragments\n...",
        "#exercise:join-fragments",
        "\n\n# exercise: join-fragments\n",
        "%%time\n# exercise: join-fragments\ndef join(): ...",
        "# NBVAL_IGNORE_OUTPUT\n\n# my notes: none\n# exercise: join-fragments\n",
        "%matplotlib inline\n!ls\n   # exercise:  join-fragments  \n",
    ],
)
def test_a_marker_is_found_below_comments_and_magics(source):
    assert name_of(source) == "join-fragments"


@pytest.mark.parametrize(
    "source", ["", "x = 1\n# exercise: a", "# exercises: a", "print('# exercise: a')", "# see exercise a"]
)
def test_other_cells_are_no_exercise(source):
    assert name_of(source) is None


def test_magics_go_and_line_numbers_stay():
    assert plain("%%time\nx = 1\n!ls\ny = 2") == "\nx = 1\n\ny = 2"
    assert plain("x = (7\n% 3)") == "x = (7\n% 3)"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def join(f):\n    ...", 2),
        ('def join(f):\n    """What."""\n    ...', 3),
        ("class A:\n    def a(self):\n        return 1\n\n    def b(self):\n        ...", 6),
        ("answer = ...", 1),
        ("...", 1),
        ("def join(f):\n    return x[..., 0]", None),
        ("def join(f):\n    if f:\n        ...\n    return 1", None),
        ("def join(f)\n    ...", None),
    ],
)
def test_a_stub_is_what_stands_in_the_place_of_code(source, line):
    assert stub_line(source) == line


# The three states.


def test_a_right_answer_says_what_ran_and_why_it_matters(small_course):
    state = judged(small_course, RIGHT)
    assert state.text.splitlines() == [
        "✓ join-fragments: passes",
        "  102 inputs ran and agree: 2 short streams, 100 random cuts.",
        "  Why it matters: Whitespace inside a fragment may be part of a value.",
    ]


def test_a_wrong_answer_gets_the_smallest_counterexample_and_one_pointer(small_course):
    state = judged(small_course, "def join(fragments):\n    return ''.join(f.strip() for f in fragments)")
    assert (state.sign, state.pointer) == ("✗", "blanks")
    lines = state.text.splitlines()
    assert lines[0] == "✗ join-fragments: not right yet"
    assert [line.split()[0] for line in lines[2:6]] == ["given", "expected", "got", "look"]
    assert lines[2:5] == ["  given     ' '", "  expected  ' '", "  got       ''"]


def test_a_stub_is_not_started(small_course):
    assert judged(small_course, "def join(fragments):\n    ...").text.startswith(
        "○ join-fragments: not started\n  Line 3"
    )


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            "def join(f):\n    return f[7]",
            "it raised IndexError: list index out of range (line 3 of your cell, in join(f=[]))",
        ),
        ("def join(f):\n    raise SystemExit", "it raised SystemExit, which would have stopped the program"),
        ("def join(f):\n    raise KeyboardInterrupt", "it raised KeyboardInterrupt"),
        ("def join(f):\n    return input()", "it asked for input"),
        (
            "def join(f):\n    return helper(f)",
            "`helper` is not defined in this cell, and the check runs the cell by itself",
        ),
        ("def join(f, g):\n    return f", "it raised TypeError"),
        ("def join(f):\n    return join(f)", "it raised RecursionError"),
        (
            "def join(f):\n    raise type('E', (Exception,), {'__str__': lambda s: 1 / 0})()",
            "whose text raises ZeroDivisionError",
        ),
        ("helper(1)\ndef join(f):\n    return f", "`helper` is not defined in this cell"),
        ("def joim(f):\n    return f", "The cell does not define `join`."),
        ("def join(f)\n    return f", "Line 2 of the cell is not Python yet"),
        ("import os\ndef join(f):\n    os._exit(0)", "ended the Python process"),
        ("def join(f):\n    r = ''.join(f)\n    f.append('x')\n    return r", "Your code changed what it was given"),
        (
            "n = []\ndef join(f):\n    n.append(1)\n    return ''.join(f) + 'x' * (len(n) > 110)",
            "The same input gave another result",
        ),
        ("def join(f):\n    return ''.join(f) == 'ab' and 'ab' or 0", "got       0"),
    ],
)
def test_every_way_to_fail_is_a_sentence(small_course, body, says):
    state = judged(small_course, body)
    assert state.sign == "✗"
    assert says in state.text


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ("def join(f):\n    while True:\n        pass", "busy at line"),
        (
            "def join(f):\n    while True:\n        try:\n            1\n        except BaseException:\n            pass",
            "busy at line",
        ),
        ("def join(f):\n    return (a := 'a' * 40) and __import__('re').match('(a|aa)+$', a + 'b')", "busy at line 3"),
        ("import time\ndef join(f):\n    time.sleep(60)", "waiting at line 4, in `join`"),
        ("while True:\n    pass", "busy at line"),
    ],
)
def test_an_endless_loop_is_cut_and_named(small_course, body, where):
    begun = time.monotonic()
    state = judged(small_course, body)
    assert (state.sign, where in state.text) == ("✗", True), state.text
    assert "did not finish and was stopped" in state.text
    assert time.monotonic() - begun < 15  # two seconds on a quiet machine; this says only that it ends


def test_a_counterexample_beats_the_loop_behind_it(small_course):
    state = judged(small_course, "def join(f):\n    while len(f) > 3:\n        pass\n    return 'no'")
    assert "expected" in state.text and "did not finish" not in state.text


def test_prints_threads_and_signals_of_a_piece_do_not_matter(small_course):
    body = (
        "import os, sys, threading\nprint('loading')\ndef join(f):\n    print('x' * 5000)\n    os.write(1, b'{')\n"
        "    sys.stderr.write('y')\n    return ''.join(f)\n"
        "threading.Thread(target=threading.Event().wait).start()"
    )
    assert judged(small_course, body).sign == "✓"


def test_a_dataclass_a_magic_and_a_future_import_work_in_a_cell(small_course):
    body = "%%time\nfrom __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\ndef join(f):\n    return ''.join(f)"
    assert state_of(small_course.exercises()["join-fragments"], body, none).sign == "✓"


def test_hostile_and_huge_representations_are_escaped_and_capped(small_course):
    body = (
        "class A:\n    def __repr__(self):\n        return '\\x1b[2J\\u202e<b>' * 10**5\ndef join(f):\n    return A()"
    )
    text = judged(small_course, body).text
    assert all(c.isprintable() for line in text.splitlines() for c in line) and len(text) < 2000
    assert "\\x1b[2J\\u202e<b>" in text and "characters" in text
    raising = "class A:\n    def __repr__(self):\n        raise SystemExit\ndef join(f):\n    return A()"
    assert "whose repr raises SystemExit" in judged(small_course, raising).text


def test_a_kit_that_fails_does_not_blame_the_learner(small_course, monkeypatch, capsys):
    exercise = small_course.exercises()["join-fragments"]
    monkeypatch.setattr(run, "_ask", lambda *_: {"state": "broken", "sentence": "KeyError: 'x'"})
    assert "a fault of the kit's and not yours" in state_of(exercise, RIGHT, none).text
    monkeypatch.setattr(run, "_ask", lambda *_: 1 / 0)
    ran(RIGHT)
    verbs.check("join-fragments")
    assert "The kit itself failed here, not your code: ZeroDivisionError" in capsys.readouterr().out


def test_without_processes_a_piece_runs_in_the_kernel(small_course, monkeypatch):
    monkeypatch.setattr(run, "PROCESSES", False)
    monkeypatch.setattr(run, "_ask", None)
    assert judged(small_course, RIGHT).sign == "✓"
    assert judged(small_course, "def join(f):\n    raise SystemExit").sign == "✗"


def test_a_decision_is_remembered_and_a_cut_is_not(small_course, monkeypatch):
    asked = []
    monkeypatch.setattr(run, "_ask", lambda request, _: asked.append(1) or {"state": "cut", "waits": False})
    assert judged(small_course, RIGHT).sign == judged(small_course, RIGHT).sign == "✗"
    monkeypatch.setattr(run, "_ask", lambda request, _: asked.append(1) or {"state": "pass", "inputs": 1, "groups": {}})
    assert judged(small_course, RIGHT).sign == judged(small_course, RIGHT).sign == "✓"
    assert len(asked) == 3


# Pieces that build on pieces.


def test_a_piece_builds_on_the_learners_own_where_that_passes(small_course):
    exercise, marked = small_course.exercises()["keyed"], RIGHT.replace("return", "OWN = 1; return")
    uses = exercise.text().replace("return [join(", "join.__code__.co_consts.index(1); return [join(")
    assert state_of(exercise, uses, {"join-fragments": marked}.get).sign == "✓"
    assert state_of(exercise, uses, none).sign == "✗"  # the package's join has no such constant
    broken = {"join-fragments": "# exercise: join-fragments\ndef join(f):\n    return 1"}.get
    assert state_of(exercise, exercise.text(), broken).sign == "✓"


def test_every_wrong_answer_meets_its_pointer(small_course):
    for exercise in small_course.exercises().values():
        for wrong in exercise.wrong:
            state = state_of(exercise, exercise.wrong_text(wrong), none)
            assert (state.sign, state.pointer) == ("✗", wrong.pointer), wrong.what


def test_what_is_kept_between_runs_is_found(small_course):
    shared = small_course.exercises()["keyed"].wrong_text(small_course.exercises()["keyed"].wrong[2])
    text = state_of(small_course.exercises()["keyed"], shared, none).text
    assert "Something is kept from one run to the next" in text


def test_a_swap_that_does_not_apply_is_an_error(small_course):
    with pytest.raises(LookupError, match="holds no"):
        small_course.exercises()["keyed"].wrong_text(Wrong("x", "index", swap=(("no such text", ""),)))


# The session: the last run counts.


def test_the_cell_that_ran_last_counts_and_two_cells_are_said(small_course, capsys):
    ran(RIGHT, cell="a")
    verbs.check("join-fragments")
    assert "Two cells" not in capsys.readouterr().out
    ran("# exercise: join-fragments\ndef join(f):\n    return 1", cell="b")
    verbs.check("join-fragments")
    said = capsys.readouterr().out
    assert (
        said.startswith("✗")
        and "Two cells named `# exercise: join-fragments` were run. The one run last counts." in said
    )


def test_a_failed_last_run_is_said_and_no_older_definition_is_checked(small_course, capsys, monkeypatch):
    ran(RIGHT)
    ran("# exercise: join-fragments\ndef join(f)", ok=False)
    monkeypatch.setattr(run, "_ask", lambda *_: pytest.fail("an older definition was checked"))
    verbs.check("join-fragments")
    assert capsys.readouterr().out.startswith("✗ join-fragments: not right yet\n  The last run of its cell failed")


def test_a_check_in_the_same_cell_checks_that_cell(small_course, capsys):
    ran(RIGHT, ok=None)
    verbs.check("join-fragments")
    assert capsys.readouterr().out.startswith("✓")


def test_a_cell_never_run_is_not_started(small_course, capsys):
    verbs.check("join-fragments")
    assert capsys.readouterr().out.startswith("○ join-fragments: not started\n  Write it in the cell")


def test_the_hooks_of_a_real_shell(small_course):
    from IPython.core.interactiveshell import InteractiveShell

    shell, session = InteractiveShell(), Session()
    session.listen(shell)
    session.listen(shell)
    shell.run_cell("x = 1", cell_id="z")
    assert session.last == {}
    for text, ok in [(RIGHT, True), (RIGHT + "1 / 0", False), (RIGHT + "def", False), ("%%time\n" + RIGHT, True)]:
        shell.run_cell(text, silent=False, store_history=False, cell_id="a")
        assert session.last["join-fragments"] == (text, "a", ok)
    shell.run_cell("%%capture\n" + RIGHT, cell_id="a")  # runs what is below it as a cell of its own
    assert session.last["join-fragments"].ok and not session.twice("join-fragments")
    shell.run_cell(RIGHT, cell_id="b")
    assert session.twice("join-fragments")


# The verbs.


@pytest.mark.parametrize("verb", [verbs.check, verbs.hint, verbs.reveal, verbs.use])
def test_a_name_that_nothing_has_is_answered_with_a_near_one(small_course, capsys, verb):
    assert verb("join_fragments") is None
    assert capsys.readouterr().out == "No exercise is called 'join_fragments'. Did you mean \"join-fragments\"?\n"
    verb(print)
    assert 'as text, as in check("join-fragments")' in capsys.readouterr().out


def test_hints_escalate_and_begin_again(small_course, capsys):
    for _ in range(3):
        verbs.hint("join-fragments")
    said = capsys.readouterr().out.splitlines()
    assert said[0] == said[4] == "Hint 1 of 2: One operation is enough."
    assert said[2] == 'Hint 2 of 2: The answer is "".join(fragments).'
    assert 'reveal("join-fragments")' in said[3]


def test_a_chapter_does_not_load_the_others(small_course):
    assert small_course.find("join-fragments")[0] == 1 and "streamkit.lab.course.chapter2" not in sys.modules
    small_course.begin(2)
    assert small_course.find("count")[0] == 2 and small_course.find("keyed")[0] == 1 and small_course.find("x") is None


def test_two_exercises_of_one_name_are_an_error(small_course, monkeypatch):
    monkeypatch.setattr(small_course, "numbers", lambda: [1, 1])
    with pytest.raises(ValueError, match="two exercises have one name"):
        small_course.exercises()


def test_what_reveal_prints_is_a_cell_that_passes(small_course, capsys):
    for name, exercise in small_course.exercises().items():
        verbs.reveal(name)
        text = capsys.readouterr().out
        assert name_of(text) == name and text == exercise.text()
        assert state_of(exercise, text, none).sign == "✓"


def test_use_takes_the_learners_piece_only_where_it_passes(small_course, capsys):
    import small_answers

    assert verbs.use("join-fragments") is small_answers.join
    assert capsys.readouterr().out == 'use("join-fragments"): the package\'s (yours: ○ not started)\n'
    ran(RIGHT.replace("return", "print('noise'); return") + "print('loading')\n")
    mine = verbs.use("join-fragments")
    assert mine is not small_answers.join and mine(["a", "b"]) == "ab"
    assert capsys.readouterr().out == 'use("join-fragments"): yours\n'
    ran("# exercise: join-fragments\ndef join(f):\n    return 1")
    assert verbs.use("join-fragments") is small_answers.join


def test_a_piece_that_passes_is_kept_in_a_workbook_and_nowhere_else(small_course, tmp_path, capsys, monkeypatch):
    ran(RIGHT)
    verbs.check("join-fragments")
    assert not (tmp_path / "pieces").exists()
    (tmp_path / RECORD).write_text("{}")
    monkeypatch.setenv(JUDGED, "1")
    verbs.check("join-fragments")
    assert not (tmp_path / "pieces").exists()
    monkeypatch.delenv(JUDGED)
    capsys.readouterr()
    verbs.check("join-fragments")
    assert (
        'Kept in pieces/join-fragments.py: use("join-fragments") gives yours, here and in later chapters.'
        in capsys.readouterr().out
    )
    assert Pieces(tmp_path).load("join-fragments") == RIGHT

    ran("# exercise: join-fragments\ndef join(f):\n    return 1")
    verbs.check("join-fragments")
    assert Pieces(tmp_path).load("join-fragments") == RIGHT  # what passed once stays

    SESSION.last.clear()
    capsys.readouterr()
    verbs.check("join-fragments")  # a new kernel, a later chapter
    said = capsys.readouterr().out
    assert said.startswith("✓") and "This is the kept one: its cell has not been run since the kernel started." in said
    assert verbs.use("join-fragments")(["x"]) == "x" and "yours" in capsys.readouterr().out


def test_a_piece_that_raises_in_a_later_cell_shows_its_lines(small_course):
    import traceback

    ran(
        RIGHT.replace(
            "    return",
            "    if fragments is None:\n        raise ValueError(len(fragments or []))  # mine\n    return",
        )
    )
    with pytest.raises(ValueError) as error:
        verbs.use("join-fragments")(None)
    assert 'File "<your join-fragments>", line 4' in (said := "".join(traceback.format_exception(error.value)))
    assert "# mine" in said


def test_use_hands_out_a_piece_even_where_the_kit_fails(small_course, monkeypatch, capsys):
    import small_answers

    ran(RIGHT)
    monkeypatch.setattr(run, "_ask", lambda *_: 1 / 0)
    assert verbs.use("join-fragments") is small_answers.join
    assert "The kit itself failed" in capsys.readouterr().out


def test_a_kept_piece_builds_on_kept_pieces(small_course, tmp_path, capsys):
    (tmp_path / RECORD).write_text("{}")
    Pieces(tmp_path).keep("join-fragments", RIGHT)
    Pieces(tmp_path).keep("keyed", small_course.exercises()["keyed"].text())
    assert verbs.use("keyed")().texts() == []
    assert capsys.readouterr().out == 'use("keyed"): yours\n'


def test_a_folder_that_cannot_be_written_keeps_nothing_and_says_nothing(tmp_path):
    (tmp_path / RECORD).write_text("{}")
    (tmp_path / "pieces").write_text("a file in the way")
    assert Pieces(tmp_path).keep("a", "x") is None and Pieces(tmp_path).load("a") is None


# The parts by themselves.


def test_equal_means_equal_types_too():
    assert judge.same({"a": [1, (2.0, None)]}, {"a": [1, (2.0, None)]})
    for one, other in [(1, True), (1, 1.0), ([1], (1,)), ({"a": 1}, {"a": True}), ([1], [1, 2]), ({"a": 1}, {"b": 1})]:
        assert not judge.same(one, other)


def test_a_clone_can_be_spoiled():
    given = [{"a": [1]}, ([2],)]
    copy = judge.clone(given)
    copy[0]["a"].append(9), copy[1][0].append(9)
    assert given == [{"a": [1]}, ([2],)]


def test_an_event_is_shown_by_what_it_says():
    assert show.shown(CallDelta(0, 1, None, "search", "{")) == "CallDelta(index=1, name='search', text='{')"
    assert show.shown(CallDelta(0.5, None)) == "CallDelta(at=0.5, index=None)"


def test_a_long_input_keeps_both_ends():
    lines = show.lines_of([str(n) for n in range(100)], None)
    assert len(lines) == 12 and lines[0] == "'0'" and lines[-1] == "'99'" and lines[8] == "… 89 more …"


def test_an_exercise_without_cases_is_a_fault_of_the_kit(small_course):
    exercise = Exercise(
        **{"name": "x", "title": "", "defines": "join", "answer": definition("m", "x"), "cases": list, "pointers": {}},
        **{"hints": (), "wrong": (), "why": ""},
    )
    with pytest.raises(LookupError, match="no cases"):
        judge.Trial(exercise, None).run(str)


def test_a_case_that_diagnoses_names_the_fault_better(small_course):
    exercise = small_course.exercises()["join-fragments"]
    fields = {name: getattr(exercise, name) for name in exercise.__dataclass_fields__}
    fields |= {
        "cases": lambda: [Case(["a"], "a", "append")],
        "diagnose": lambda given, expected, got: "blanks" if got == "b" else None,
    }
    for got, pointer in [("b", "blanks"), ("c", "append")]:
        verdict = judge.Trial(Exercise(**fields), lambda: None).run(lambda f, got=got: got)
        assert verdict["pointer"] == pointer


def test_values_of_many_facts_are_told_by_those_that_differ(small_course):
    exercise = small_course.exercises()["join-fragments"]
    fields = {name: getattr(exercise, name) for name in exercise.__dataclass_fields__}
    fields |= {
        "cases": lambda: [Case(["a"], "a", "append")],
        "tell": lambda expected, got: (f"<{expected}>", "\x1b" + got),
    }
    verdict = judge.Trial(Exercise(**fields), lambda: None).run(lambda f: "b")
    assert (verdict["expected"], verdict["got"]) == ("<a>", "\\x1bb")
    verdict = judge.Trial(Exercise(**fields), lambda: None).run(lambda f: 1 / 0)
    assert (verdict["expected"], "ZeroDivisionError" in verdict["got"]) == ("'a'", True)


def test_a_definition_is_cut_out_with_its_decorators_and_helpers():
    text = definition("streamkit.lab.exercises.record", "Wrong", "_binds", "Case").text()
    assert text.startswith("class Case(NamedTuple):") and "@dataclass(frozen=True)\nclass Wrong:" in text
    assert text.rstrip().endswith("isinstance(target, ast.Name)]") and "class Definition" not in text
    with pytest.raises(LookupError, match="defines no nothing"):
        definition("streamkit.lab.exercises.record", "Wrong", "nothing").text()
