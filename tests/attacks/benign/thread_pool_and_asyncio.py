# /// control
# summary = "Uses a pool of threads and an event loop."
# expected_stdout = "[1, 4, 9] [10, 20]\n"
# ///

import asyncio
import concurrent.futures


async def later(value):
    await asyncio.sleep(0.001)
    return value * 10


async def main():
    return await asyncio.gather(later(1), later(2))


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    print(list(pool.map(lambda value: value * value, [1, 2, 3])), asyncio.run(main()))
