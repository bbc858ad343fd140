#!/usr/bin/env python3
"""Python asyncio, for comparison: echo with streams. --uvloop runs it on libuv's loop."""

import asyncio
import sys


async def echo(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(echo, "127.0.0.1", 0, backlog=4096)
    print(f"listening on 127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if "--uvloop" in sys.argv:
    import uvloop

    uvloop.install()
asyncio.run(main())
