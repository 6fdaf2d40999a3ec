"""Where the kit's files lie."""

import os
from pathlib import Path

ROOT = Path(os.environ.get("STREAMKIT_HOME") or Path(__file__).resolve().parents[2])
DATA = ROOT / "data"
CAPTURES = DATA / "captures"
CASES = DATA / "cases"
BOOK = ROOT / "notebooks"
WORKBOOK = ROOT / "workbook"
