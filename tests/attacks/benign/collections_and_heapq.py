# /// control
# summary = "Uses the containers and algorithms of the standard library."
# expected_stdout = "[1, 2, 3] [('a', 2)] deque([3, 1, 2]) 3 [(1, 2), (1, 3), (2, 3)] 1\n"
# ///

import bisect
import collections
import heapq
import itertools

heap = [3, 1, 2]
heapq.heapify(heap)
print(
    [heapq.heappop(heap) for _ in range(3)],
    collections.Counter("aab").most_common(1),
    collections.deque([1, 2, 3], maxlen=3).__class__([3, 1, 2]),
    len(collections.defaultdict(int, a=1, b=2, c=3)),
    list(itertools.combinations([1, 2, 3], 2)),
    bisect.bisect([1, 3], 2),
)
