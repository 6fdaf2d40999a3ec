"""Paths of any kind → rows a call: captures, folders of them, tables of one's own, bare streams without times."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from .captures import Capture, find_captures, read_capture
from .latency import TIMES, rows_of
from .paths import inside
from .problem import Problem
from .tables import rows_of_table

BARE = (".sse", ".ndjson", ".txt")
Tick = Callable[[int], object]


def _silent(size: int) -> None:
    """Progress that nobody looks at."""


def files_of(paths: Iterable[str], api: str | None) -> list[Path]:
    """Every file to measure under `paths`, each once. Raises Problem."""
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        if path.suffix == ".csv" or (api and path.suffix in BARE):
            if not path.is_file():
                raise Problem(f"{path}: no such file")
            found[path] = None
        elif path.suffix in BARE:
            raise Problem(f"{path}: a bare stream; say which API it speaks with --api NAME (it has no times)")
        elif path.is_dir():
            tables = inside(path, sorted(path.glob("*.csv")))
            bare = inside(path, sorted(p for p in path.iterdir() if p.suffix in BARE)) if api else []
            captures = [] if (tables or bare) and not any(path.rglob("*.jsonl*")) else find_captures(path)
            found |= dict.fromkeys([*captures, *bare] or tables)
        else:
            found |= dict.fromkeys(find_captures(path))
    return list(found)


def rows_in(
    path: Path, boundary: str, api: str | None, required: dict, repairs: Counter, tick: Tick = _silent
) -> Iterator[dict]:
    """The rows of one file, as they are measured; what was mended is counted in `repairs`, bytes read told to `tick`."""
    if path.suffix == ".csv":
        yield from rows_of_table(path, required, repairs, tick)
        return
    if path.suffix in BARE:
        bare = Capture(path, {"api": api}, [(0.0, path.read_bytes())], 0.0, "clean")
        yield from (row | dict.fromkeys(TIMES) for row in rows_of(bare, boundary))
    else:
        yield from rows_of(read_capture(path), boundary)
    tick(path.stat().st_size)


def all_rows_in(path: Path, boundary: str, api: str | None, required: dict) -> tuple[list[dict], Counter]:
    """The rows of one file and its repairs at once. A function of its arguments alone: Dask may run it anywhere."""
    repairs: Counter = Counter()
    return list(rows_in(path, boundary, api, required, repairs)), repairs


def measured(
    files: list[Path],
    boundary: str,
    api: str | None,
    required: dict,
    repairs: Counter,
    tick: Tick = _silent,
    run: Callable | None = None,
) -> Iterator[dict]:
    """The rows of all files, in order. `run`: how to map over files, such as `dask_map`; here and now without."""
    if run is None:
        for path in files:
            yield from rows_in(path, boundary, api, required, repairs, tick)
        return
    work = partial(all_rows_in, boundary=boundary, api=api, required=required)
    for path, (rows, mended) in zip(files, run(work, files), strict=True):
        repairs += mended
        yield from rows
        tick(path.stat().st_size)


def dask_map(address: str | None = None, workers: int = 2, batch: int = 64) -> Callable:
    """A map over files on Dask: its own processes, or the scheduler at `address`. Needs the extra `scale`."""

    def run(work: Callable, files: list[Path]) -> Iterator:
        try:
            import dask
        except ImportError:
            raise Problem("--engine dask needs the extra `scale`; type: pip install 'streamkit[scale]'") from None
        client = None
        if address:
            from distributed import Client

            client = Client(address)
        for start in range(0, len(files), batch):
            part = [dask.delayed(work)(path) for path in files[start : start + batch]]
            how = {} if client else {"scheduler": "processes", "num_workers": workers}
            yield from dask.compute(*part, **how)

    return run
