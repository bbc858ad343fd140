#!/usr/bin/env python3
"""The same with Python's asyncio."""

import asyncio
import time


async def report(name, body):
    repetitions, best = 20, None
    rounds = 0
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


async def mutex(n):
    lock = asyncio.Lock()
    for _ in range(n):
        await lock.acquire()
        lock.release()


async def mutex_hand_over(n):
    lock = asyncio.Lock()

    async def take_turns():
        for _ in range(n // 2):
            async with lock:
                await asyncio.sleep(0)
    await asyncio.gather(take_turns(), take_turns())


async def semaphore(n):
    slots = asyncio.Semaphore(1)
    for _ in range(n):
        await slots.acquire()
        slots.release()


async def hand_over(capacity, n):
    queue = asyncio.Queue(capacity)

    async def send():
        for i in range(n):
            await queue.put(i)

    async def receive():
        for _ in range(n):
            await queue.get()
    await asyncio.gather(send(), receive())


async def channel_64(n):
    await hand_over(64, n)


async def channel_1(n):
    await hand_over(1, n)


async def queue(n):
    items = asyncio.Queue(8)
    for _ in range(n):
        await items.put(1)
        await items.get()


async def oneshot(n):
    loop = asyncio.get_running_loop()
    for _ in range(n):
        future = loop.create_future()
        future.set_result(1)
        await future


async def yields(n):
    for _ in range(n):
        await asyncio.sleep(0)


async def spawn(n):
    async def nothing():
        return 1
    for _ in range(n):
        await asyncio.create_task(nothing())


async def generator(n):
    def count():
        for i in range(n):
            yield i
    for _ in count():
        pass


async def async_generator(n):
    async def count():
        for i in range(n):
            yield i
    async for _ in count():
        pass


async def to_thread(n):
    for _ in range(n):
        await asyncio.to_thread(int)


async def main():
    for body in (mutex, mutex_hand_over, semaphore, channel_64, channel_1, queue, oneshot, yields, spawn, generator,
                 async_generator, to_thread):
        await report({"yields": "yield"}.get(body.__name__, body.__name__), body)

asyncio.run(main())
