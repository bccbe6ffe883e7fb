"""A process that reserves and settles amounts of a budget. `python -m tests.integrations.redis.racing URL COUNT LIMIT`.

It waits for a line on its standard input, so that several processes begin together. It prints how many reservations were
granted, and the micro-dollars that it settled.
"""

from __future__ import annotations

import asyncio
import random
import sys

from llmcore.integrations.redis import RedisState
from llmcore.types import LimitExceeded

_TASKS = 8


async def race(url: str, count: int, limit: float, seed: int) -> tuple[int, int]:
    budget = RedisState(url, namespace="race", timeout=30).budget("all", limit)
    chance = random.Random(seed)
    granted = settled = 0

    async def reserve_several(number: int) -> None:
        nonlocal granted, settled
        for _ in range(number):
            amount = chance.randint(1, 20)
            try:
                hold = await budget.reserve(amount)
            except LimitExceeded:
                continue
            granted += 1
            spent = chance.randint(0, amount)
            await budget.settle(hold, spent)
            settled += spent

    await asyncio.gather(*(reserve_several(count // _TASKS) for _ in range(_TASKS)))
    return granted, settled


if __name__ == "__main__":
    sys.stdin.readline()
    print(*asyncio.run(race(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))))
