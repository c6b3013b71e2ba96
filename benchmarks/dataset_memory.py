"""Memory of a data set that is read for training, per byte of its JSON file.

    python benchmarks/dataset_memory.py

Rows are like those of OpenR1-Math: a short problem beside long generations, about 100 MB. The
control reads the same file whole, as objects of Python.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

NUM_ROWS, NUM_BYTES = 5_000, 100_000_000
WORDS = [f"w{number}" for number in range(5_000)]

MEASURE = """
import json, re, sys
from pathlib import Path
from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.problems import load_problems

def resident():
    return int(re.search(r"VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

before = resident()
if sys.argv[2] == "whole":
    kept = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
else:
    kept = load_problems(DatasetConfig(path=sys.argv[1]))
print(resident() - before, len(kept))
"""


def main() -> None:
    """Write the file, read it in processes of their own, and print what they keep."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        write_rows(path)
        size = path.stat().st_size
        kept = {}
        for way in ("whole", "problems"):
            result = subprocess.run(
                [sys.executable, "-c", MEASURE, str(path), way],
                check=True,
                capture_output=True,
                text=True,
            )
            held, count = map(int, result.stdout.split()[-2:])
            assert count == NUM_ROWS
            kept[way] = held / size
            print(f"{way:<9} {held / 1e6:7.1f} MB  {kept[way]:.3f} bytes per byte of JSON")
        ratio = kept["problems"] / kept["whole"]
        print(f"file {size / 1e6:.0f} MB; load_problems keeps {ratio:.3f} of the control")


def write_rows(path: Path) -> None:
    """Rows with two generations each, all different."""
    draw = random.Random(0)
    length = NUM_BYTES // NUM_ROWS // 2
    with path.open("w", encoding="utf-8") as file:
        for number in range(NUM_ROWS):
            generations = [" ".join(draw.choices(WORDS, k=length // 6)) for _ in range(2)]
            row = {
                "problem": f"{number}: " + " ".join(draw.choices(WORDS, k=40)),
                "answer": str(number),
                "generations": generations,
            }
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
