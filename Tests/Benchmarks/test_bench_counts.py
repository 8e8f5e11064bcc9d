"""What connections keep: the library that counts live blocks, and what is compared with the baseline."""

import json
import os
import subprocess

import pytest
from bench import check, live, micro, paths

# Prints the blocks and bytes that it has, by its own count, and those of the library; the numbers before its work are subtracted.
PROGRAM = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *blocks[20000];
static size_t sizes[20000];

int main(void) {
    uint64_t before[2], after[2], count = 0, bytes = 0;
    FILE *file = fopen(getenv("COUNTS"), "rb");
    setvbuf(file, NULL, _IONBF, 0);
    if (fread(before, 8, 2, file) != 2) return 1;
    srand(1);
    for (int turn = 0; turn < 500000; turn++) {
        int i = rand() % 20000;
        size_t size = (size_t)(rand() % 5000 + 1);
        if (!blocks[i]) {
            int how = rand() % 4;
            if (how == 3 && posix_memalign(&blocks[i], 256, size) != 0) return 1;
            if (how < 3) blocks[i] = how == 0 ? malloc(size) : how == 1 ? calloc(1, size) : aligned_alloc(64, size);
            count++;
            bytes += size;
        } else if (rand() % 3) {
            free(blocks[i]);
            blocks[i] = NULL;
            count--;
            bytes -= sizes[i];
            size = 0;
        } else {
            blocks[i] = realloc(blocks[i], size);
            bytes += size - sizes[i];
        }
        sizes[i] = size;
    }
    rewind(file);
    if (fread(after, 8, 2, file) != 2) return 1;
    printf("%lu %lu %lu %lu\n", count, bytes, after[0] - before[0], after[1] - before[1]);
    return 0;
}
"""


def test_live_blocks_and_bytes_are_counted_exactly(tmp_path):
    subprocess.run(["make", "-s", "-C", paths.BENCHMARKS, ".build/tools/live.so"], check=True, timeout=60)
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run(["cc", "-w", "-O1", "-o", tmp_path / "program", tmp_path / "program.c"], check=True, timeout=60)
    file = tmp_path / "counts"
    done = subprocess.run(
        [tmp_path / "program"], capture_output=True, text=True, check=True, timeout=60,
        env=os.environ | {"LD_PRELOAD": str(paths.TOOLS / "live.so"), "BENCH_LIVE_FILE": str(file), "COUNTS": str(file)})
    count, size, counted, counted_size = map(int, done.stdout.split())
    assert count > 1000
    assert (counted, counted_size) == (count, size)


def test_a_block_more_or_a_field_more_is_a_regression():
    baseline = {"live.connection": {"blocks": 28, "bytes": 4426}}

    def said(blocks: int, size: int) -> list[str]:
        return live.regressions([{"name": "live.connection", "blocks": blocks, "bytes": size}], baseline)

    assert not said(28, 4426) and not said(28, 4442) and not said(20, 3000)
    assert said(29, 4426) == ["live.connection: 29 blocks, baseline 28"]
    assert said(28, 4443) == ["live.connection: 4443 bytes, baseline 4426"]
    assert live.regressions([{"name": "live.member", "blocks": 1, "bytes": 1}], baseline) == ["live.member: not in the baseline"]


def test_the_baseline_has_what_is_counted():
    known = json.loads(check.BASELINE.read_text())
    assert all(set(known[name]) == {"blocks", "bytes"} for name in live.KINDS)


def test_a_new_baseline_keeps_what_was_not_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(check, "BASELINE", tmp_path / "baseline.json")
    monkeypatch.setattr(micro, "KEPT", tmp_path / "micro.json")
    monkeypatch.setattr(live, "KEPT", tmp_path / "live.json")
    with pytest.raises(paths.BenchError, match="nothing was counted"):
        check.keep()
    micro.KEPT.write_text(json.dumps([{"name": "frame.read", "instructions": 10, "allocations": 1.0, "ns": 3}]))
    check.keep()
    micro.KEPT.unlink()
    live.KEPT.write_text(json.dumps([{"name": "live.connection", "blocks": 28, "bytes": 4426}]))
    check.keep()
    both = {"frame.read": {"instructions": 10, "allocations": 1.0}, "live.connection": {"blocks": 28, "bytes": 4426}}
    assert json.loads(check.BASELINE.read_text()) == both
    live.KEPT.unlink()
    micro.KEPT.write_text(json.dumps([{"name": "frame.read", "instructions": 9, "allocations": 1.0, "ns": 3}]))
    check.keep()
    assert json.loads(check.BASELINE.read_text()) == both | {"frame.read": {"instructions": 9, "allocations": 1.0}}
