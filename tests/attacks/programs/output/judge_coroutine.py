# /// attack
# category = "output"
# kind = "function"
# success = "infra"
# expected = ["invalid_output", "wrong_answer", "runtime_error"]
# summary = "Returns coroutines, futures and locks, which mean nothing outside their process."
# ///

import asyncio
import threading


def solve(*_):
    async def later():
        return True

    return [later(), threading.Lock(), asyncio.sleep, open, type, solve, NotImplemented, ...]
