# /// attack
# category = "network"
# kind = "stdio"
# success = "net:tcp"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Sends an HTTP request with the standard library, around any proxy."
# ///

import asyncio
import http.client
import urllib.request

url = "http://127.0.0.1:{TCP_PORT}/stolen"
try:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(url, timeout=2)
except OSError as error:
    print("blocked", error)
except http.client.HTTPException as error:
    print("answered", error)


async def connect():
    _, writer = await asyncio.open_connection("127.0.0.1", int("{TCP_PORT}"))
    writer.write(b"stolen")
    await writer.drain()


try:
    asyncio.run(asyncio.wait_for(connect(), 2))
except OSError as error:
    print("blocked", error)
