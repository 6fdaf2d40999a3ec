"""streamkit refresh: the book holds stubs and the outputs of the finished book, and a second run changes nothing."""

import nbformat
import pytest
import small
from nbformat.v4 import new_code_cell, new_notebook, new_output

from streamkit.lab import refresh
from streamkit.lab.exercises.cells import name_of, stub_line
from streamkit.lab.problem import Problem

pytest_plugins = ["small.fixtures"]


def test_the_stubs_stay_and_the_outputs_are_those_of_the_answers(home):
    for path in sorted((home / "notebooks").glob("*.ipynb")):
        book = nbformat.read(path, as_version=4)
        nbformat.validate(book)
        code = [cell for cell in book.cells if cell.cell_type == "code"]
        assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
        assert all(stub_line(cell.source) for cell in code if name_of(cell.source))
        assert all("✓" in cell.outputs[0].text for cell in code if cell.source.startswith("check("))
        assert book.metadata.language_info == {"name": "python"} and "widgets" not in book.metadata


def test_a_second_run_changes_nothing_and_a_check_says_so(home):
    before = {path: path.read_bytes() for path in (home / "notebooks").glob("*.ipynb")}
    done = small.command(home, "streamkit", "refresh", "01")
    assert (done.returncode, done.stdout) == (0, "01_join.ipynb: unchanged\n"), done.stderr
    assert before == {path: path.read_bytes() for path in (home / "notebooks").glob("*.ipynb")}
    path = home / "notebooks" / "02_count.ipynb"
    path.write_text(path.read_text("utf-8").replace("['x'] 2", "['x'] 3"), "utf-8")
    stale = path.read_bytes()
    done = small.command(home, "streamkit", "refresh", "--check", "02")
    assert (
        done.returncode == 1 and done.stdout.startswith("02_count.ipynb: would change\n") and path.read_bytes() == stale
    )
    assert "+" in done.stdout and "['x'] 2" in done.stdout


def test_a_word_that_names_no_chapter_is_bad_input(home):
    done = small.command(home, "streamkit", "refresh", "09")
    assert done.returncode == 2 and "There are: 01_join.ipynb, 02_count.ipynb" in done.stderr


@pytest.fixture
def ran(monkeypatch, tmp_path):
    """Refresh a notebook of these cells; each run gives the cells the next of their outputs."""

    def refreshed(*cells, runs=1, measure=False):
        path = tmp_path / "n.ipynb"
        if not path.exists():
            nbformat.write(
                new_notebook(cells=[new_code_cell(source, metadata={"tags": tags}) for source, tags, *_ in cells]), path
            )
        for number in range(runs):

            def execute(book, path, number=number):
                for count, (cell, (_, _, *outputs)) in enumerate(zip(book.cells, cells, strict=True), 1):
                    cell.execution_count, cell.outputs = count, outputs[min(number, len(outputs) - 1)]
                return book

            monkeypatch.setattr(refresh, "execute", execute)
            path.write_text(refresh.text(refresh.refreshed(path, {}, measure)), "utf-8")
        return nbformat.read(path, as_version=4).cells, path

    return refreshed


def stream(*texts):
    return [new_output("stream", name="stdout", text=text) for text in texts]


def test_how_a_stream_was_cut_does_not_matter(ran):
    (cell,), _ = ran(("x", [], stream("a", "b\n")))
    assert [output.text for output in cell.outputs] == ["ab\n"]


def test_what_a_machine_decides_stays_until_the_code_changes(ran):
    cells = [("x", ["nbval-ignore-output"], stream("3 ms"), stream("4 ms")), ("y", [], stream("1"), stream("2"))]
    (measured, compared), path = ran(*cells, runs=2)
    assert (measured.outputs[0].text, compared.outputs[0].text) == ("3 ms", "2")
    (measured, _), _ = ran(*[(s, t, o[-1]) for s, t, *o in cells], measure=True)
    assert measured.outputs[0].text == "4 ms"
    path.write_text(path.read_text("utf-8").replace('"x"', '"x + 1"'), "utf-8")
    (measured, _), _ = ran(("x + 1", [], stream("5 ms")), ("y", [], stream("2")))
    assert measured.outputs[0].text == "5 ms"


def test_the_line_of_use_is_not_compared(ran):
    (cell,), _ = ran(("x", [], stream('use("a"): yours\n1\n'), stream('use("a"): the package\'s\n1\n')), runs=2)
    assert cell.outputs[0].text == 'use("a"): yours\n1\n'


def test_a_widget_leaves_its_static_form(ran):
    live = new_output(
        "display_data", data={refresh.WIDGET: {"model_id": "random"}, "text/plain": "Player", "text/html": "<p>"}
    )
    (cell,), _ = ran(("x", [], [live]))
    assert set(cell.outputs[0].data) == {"text/plain", "text/html"}


def picture(*heights, dpi=50):
    """A chart as a cell stores it."""
    import base64
    import io

    from matplotlib.figure import Figure

    figure = Figure((2, 1), dpi=dpi)
    figure.subplots().bar(range(len(heights)), heights)
    figure.savefig(file := io.BytesIO(), metadata={"Title": str(heights)})
    data = base64.b64encode(file.getvalue()).decode()
    return [
        new_output(
            "display_data", data={"image/png": data, "text/plain": "<Figure>"}, metadata={"image/png": {"width": 100}}
        )
    ]


def test_a_picture_that_looks_the_same_stays_and_another_one_goes_in(ran):
    first, second, other = picture(1, 2), picture(1, 2.0), picture(2, 1)
    assert first != second and refresh.alike(first, second)
    assert (
        not refresh.alike(first, other)
        and not refresh.alike(first, picture(1, 2, dpi=60))
        and not refresh.alike(first, [])
    )
    inside = [
        [new_output("display_data", data={"text/html": f'<img src="data:image/png;base64,{p[0].data["image/png"]}">'})]
        for p in (first, second, other)
    ]
    assert refresh.alike(inside[0], inside[1]) and not refresh.alike(inside[0], inside[2])
    (cell,), _ = ran(("x", [], first, second), runs=2)
    assert cell.outputs[0].data == first[0].data and cell.outputs[0].metadata == first[0].metadata
    (cell,), _ = ran(("x", [], other))
    assert cell.outputs[0].data == other[0].data


def test_times_widget_state_and_versions_are_taken_out(ran):
    _, path = ran(("x", [], stream("1")))
    book = nbformat.read(path, as_version=4)
    book.metadata |= {"widgets": {"a": 1}, "language_info": {"name": "python", "version": "3.11.7"}}
    book.cells[0].metadata |= {"execution": {"iopub.status.busy": "2026"}, "collapsed": True}
    clean = refresh.normalised(book)
    assert set(clean.metadata) == {"kernelspec", "language_info"} and clean.metadata.language_info == {"name": "python"}
    assert "execution" not in clean.cells[0].metadata and "collapsed" not in clean.cells[0].metadata


def test_a_cell_that_raises_is_named(tmp_path):
    path = tmp_path / "n.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("1 / 0")]), path)
    with pytest.raises(Problem, match=r"n\.ipynb does not run from top to bottom(?s:.*)1 / 0"):
        refresh.refreshed(path, {})
