#!/usr/bin/env python3
"""The same with Python's asyncio, which has no files: each call on a thread. Usage: asyncio_files.py FILE"""

import asyncio
import os
import random
import sys
import time

FILE_SIZE, LARGE, SMALL = 64 << 20, 65536, 4096


async def report(name, body):
    repetitions, rounds, best = 20, 0, None
    while rounds < 3:
        start = time.perf_counter()
        await body(repetitions)
        took = time.perf_counter() - start
        if took < 0.03:
            repetitions *= 8 if took < 0.003 else 2
            continue
        rounds += 1
        best = min(best or took, took)
    print(f"{name}\t{best / repetitions * 1e9:.2f}", flush=True)


async def main():
    fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
    large, small = bytes(LARGE), bytes(SMALL)

    def write_64k(n):
        return [(os.pwrite, fd, large, i % (FILE_SIZE // LARGE) * LARGE) for i in range(n)]

    async def one_by_one(calls):
        for call in calls:
            await asyncio.to_thread(*call)

    def offsets(n):
        numbers = random.Random(1)
        return [numbers.randrange(FILE_SIZE // SMALL) * SMALL for _ in range(n)]

    async def by_16(calls):
        await asyncio.gather(*(one_by_one(calls[i::16]) for i in range(16)))

    def reads(n):
        return [(os.pread, fd, SMALL, at) for at in offsets(n)]

    def writes(n):
        return [(os.pwrite, fd, small, at) for at in offsets(n)]

    await report("write_64k", lambda n: one_by_one(write_64k(n)))
    await one_by_one(write_64k(FILE_SIZE // LARGE))
    await report("read_64k", lambda n: one_by_one(
        [(os.pread, fd, LARGE, i % (FILE_SIZE // LARGE) * LARGE) for i in range(n)]))
    await report("read_4k_random", lambda n: one_by_one(reads(n)))
    await report("write_4k_random", lambda n: one_by_one(writes(n)))
    await report("read_4k_random_by_16", lambda n: by_16(reads(n)))
    await report("write_4k_random_by_16", lambda n: by_16(writes(n)))
    os.close(fd)

asyncio.run(main())
