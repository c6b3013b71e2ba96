"""Two hundred problems in the style of LeetCode: a method of `class Solution`, right and wrong.

A row has the method's name, a right and a wrong body. The arguments of a section's rows are the same.
What is expected is what the right body gives when it runs here; a wrong one differs somewhere.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

CLASSES = """
class ListNode:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next


class TreeNode:
    def __init__(self, val=0, left=None, right=None):
        self.val = val
        self.left = left
        self.right = right


def linked(values):
    head = None
    for value in reversed(values):
        head = ListNode(value, head)
    return head


def unlinked(node):
    found = []
    while node:
        found.append(node.val)
        node = node.next
    return found


def tree(values):
    if not values:
        return None
    root = TreeNode(values[0])
    waiting, rest = [root], list(values[1:])
    while rest:
        node = waiting.pop(0)
        for side in ("left", "right"):
            value = rest.pop(0) if rest else None
            if value is not None:
                child = TreeNode(value)
                setattr(node, side, child)
                waiting.append(child)
    return root


def levels(root):
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop(0)
        found.append(node.val if node else None)
        if node:
            waiting += [node.left, node.right]
    while found and found[-1] is None:
        found.pop()
    return found
"""
"""Definitions of the tests: the classes of the nodes, and functions that make and read them."""

HELPERS = """
def vals(node):
    return [node.val] + vals(node.next) if node else []


def make(values):
    return ListNode(values[0], make(values[1:])) if values else None


def walk(root):
    return walk(root.left) + [root] + walk(root.right) if root else []


def depth(root):
    return 1 + max(depth(root.left), depth(root.right)) if root else 0
"""
"""Definitions of the programs besides their class."""

LISTS = [[3, 1, 2, 2], [5, -1, 4, 4, 0, 9], [1, 2, 3, 4, 5, 6, 7], [8, 8], [2]]
GRIDS = [[[1, 2, 3], [4, 5, 6]], [[7, 0], [0, 3], [2, 2]], [[5]], [[1, 9, 1], [8, 0, 2], [3, 3, 4]]]
WORDS = [["eat", "tea", "tan", "ate"], ["flower", "flow", "flight"], ["a", "b", "a"], ["level"]]
CHAINS = [[1, 2, 3, 4, 5], [4, 2, 2, 7], [], [6], [9, 9, 1, 8, 8, 8]]
TREES = [
    [3, 9, 20, None, None, 15, 7],
    [1, 2, 2, 3, 4, 4, 3],
    [5, 3, 8, 1, 4, 7, 9],
    [1, None, 2, 3],
    [4],
]

SECTIONS: list[tuple[str, str, list[tuple[str, ...]], str]] = [
    (
        "xs",
        "",
        [(repr(xs),) for xs in LISTS],
        """
maxValue :: max(xs) :: max(xs[:3])
minValue :: min(xs) :: xs[0]
sumAll :: sum(xs) :: sum(xs[1:])
runningSum :: [sum(xs[: i + 1]) for i in range(len(xs))] :: [sum(xs[:i]) for i in range(len(xs))]
containsDuplicate :: len(set(xs)) < len(xs) :: len(xs) > 3
singleNumbers :: [x for x in xs if xs.count(x) == 1] :: sorted(set(xs))
removeDuplicates :: sorted(set(xs)) :: list(xs)
maxSubArray :: max(sum(xs[i:j]) for i in range(len(xs)) for j in range(i + 1, len(xs) + 1)) :: max(xs)
productExceptSelf :: [__import__("math").prod(xs[:i] + xs[i + 1 :]) for i in range(len(xs))] :: list(xs)
moveZeroesCopy :: [x for x in xs if x] + [x for x in xs if not x] :: sorted(xs)
sortArray :: sorted(xs) :: sorted(xs)[::-1]
sortDescending :: sorted(xs, reverse=True) :: xs[::-1]
reverseArray :: xs[::-1] :: xs
sortByParity :: sorted(xs, key=lambda x: x % 2) :: sorted(xs)
squares :: [x * x for x in xs] :: [2 * x for x in xs]
sortedSquares :: sorted(x * x for x in xs) :: [x * x for x in sorted(xs)]
maxProfit :: max([0] + [b - a for i, a in enumerate(xs) for b in xs[i:]]) :: max(xs) - min(xs)
maxProfitMany :: sum(max(0, b - a) for a, b in zip(xs, xs[1:])) :: xs[-1] - xs[0]
thirdMax :: sorted(set(xs))[-3] if len(set(xs)) > 2 else max(xs) :: sorted(xs)[-1]
secondMax :: sorted(set(xs))[-2] if len(set(xs)) > 1 else -1 :: sorted(xs)[-2] if len(xs) > 1 else -1
findPeak :: xs.index(max(xs)) :: len(xs) - 1
mostCommon :: max(sorted(set(xs)), key=xs.count) :: min(xs)
countLess :: [sum(y < x for y in xs) for x in xs] :: [sum(y <= x for y in xs) for x in xs]
smallerAfter :: [sum(y < x for y in xs[i:]) for i, x in enumerate(xs)] :: [0 for _ in xs]
nextGreater :: [next((y for y in xs[i:] if y > x), -1) for i, x in enumerate(xs)] :: xs[1:] + [-1]
leaders :: [x for i, x in enumerate(xs) if all(x > y for y in xs[i + 1 :])] :: xs[-1:]
pivotIndex :: next((i for i in range(len(xs)) if sum(xs[:i]) == sum(xs[i + 1 :])), -1) :: len(xs) // 2
isMonotonic :: xs in (sorted(xs), sorted(xs)[::-1]) :: True
missingPositive :: min(set(range(1, len(xs) + 2)) - set(xs)) :: max(xs) + 1
missingNumbers :: sorted(set(range(1, len(xs) + 1)) - set(xs)) :: []
longestRun :: max(sum(x + i in xs for i in range(1)) + next(i for i in range(1, 99) if x + i not in xs) - 1 for x in xs) :: len(set(xs))
longestIncreasing :: max(len(c) for n in range(1, len(xs) + 1) for c in __import__("itertools").combinations(xs, n) if all(a < b for a, b in zip(c, c[1:]))) :: len(xs)
climbMin :: sum(sorted(xs)[: len(xs) // 2]) :: sum(xs) // 2
rob :: max(sum(xs[i] for i in range(len(xs)) if m >> i & 1) for m in range(1 << len(xs)) if not m & m >> 1) :: sum(xs[::2])
canJump :: all(max(i + x for i, x in enumerate(xs[: j + 1])) > j for j in range(len(xs) - 1)) :: 0 not in xs
maxProduct :: max(a * b for i, a in enumerate(xs) for b in xs[:i]) if len(xs) > 1 else xs[0] :: max(xs) ** 2
pairSums :: sorted({a + b for i, a in enumerate(xs) for b in xs[:i]}) :: sorted({a + b for a in xs for b in xs})
goodPairs :: sum(a == b for i, a in enumerate(xs) for b in xs[:i]) :: len(xs)
inversions :: sum(a < b for i, a in enumerate(xs) for b in xs[:i]) :: len(xs) - 1
alternate :: xs[::2] + xs[1::2] :: xs[1::2] + xs[::2]
shuffleHalves :: [y for p in zip(xs, xs[len(xs) // 2 :]) for y in p] :: xs
plusOne :: [int(d) for d in str(int("".join(str(abs(x)) for x in xs)) + 1)] :: xs[:-1] + [xs[-1] + 1]
xorAll :: __import__("functools").reduce(lambda a, b: a ^ b, xs) :: sum(xs)
countBits :: [bin(x).count("1") for x in xs] :: [x % 2 for x in xs]
decompress :: [y for a, b in zip(xs[::2], xs[1::2]) for y in [b] * max(a, 0)] :: xs[1::2]
summaryRanges :: [f"{a}->{b}" for a, b in zip(xs, xs[1:]) if b == a + 1] :: [str(x) for x in xs]
differences :: [b - a for a, b in zip(xs, xs[1:])] :: [a - b for a, b in zip(xs, xs[1:])]
maxGap :: max([0] + [b - a for a, b in zip(sorted(xs), sorted(xs)[1:])]) :: max(xs) - min(xs)
evenDigits :: sum(len(str(abs(x))) % 2 == 0 for x in xs) :: sum(x % 2 == 0 for x in xs)
countOdd :: sum(x % 2 for x in xs) :: sum(x % 2 for x in xs[1:])
groupByValue :: {x: [i for i, y in enumerate(xs) if y == x] for x in xs} :: {x: [i] for i, x in enumerate(xs)}
histogram :: {x: xs.count(x) for x in xs} :: dict.fromkeys(xs, 1)
rankTransform :: [sorted(set(xs)).index(x) + 1 for x in xs] :: [sorted(xs).index(x) + 1 for x in xs]
wiggle :: [sorted(xs)[i // 2] if i % 2 == 0 else sorted(xs)[-1 - i // 2] for i in range(len(xs))] :: sorted(xs)
median :: (sorted(xs)[len(xs) // 2] + sorted(xs)[(len(xs) - 1) // 2]) / 2 :: sorted(xs)[len(xs) // 2] / 2
firstUnique :: next((x for x in xs if xs.count(x) == 1), -1) :: xs[0]
equilibrium :: sum(xs) % 2 == 0 :: sum(xs) % 2 == 1
largestTwice :: all(2 * x <= max(xs) for x in xs if x != max(xs)) :: len(xs) < 5
prefixMax :: [max(xs[: i + 1]) for i in range(len(xs))] :: [max(xs)] * len(xs)
suffixMin :: [min(xs[i:]) for i in range(len(xs))] :: sorted(xs)
subsetsCount :: len({tuple(sorted(c)) for n in range(len(xs) + 1) for c in __import__("itertools").combinations(xs, n)}) :: 2 ** len(xs)
permutationNext :: min((list(p) for p in __import__("itertools").permutations(xs) if list(p) > xs), default=sorted(xs)) :: sorted(xs)
isPermutation :: sorted(xs) == list(range(1, len(xs) + 1)) :: len(set(xs)) == len(xs)
""",
    ),
    (
        "xs, k",
        "",
        [("[3, 1, 2, 2]", "2"), ("[5, -1, 4, 4, 0, 9]", "4"), ("[1, 2, 3, 4, 5, 6, 7]", "3")],
        """
twoSum :: next(([i, j] for j in range(len(xs)) for i in range(j) if xs[i] + xs[j] == k), []) :: [0, 1]
rotateCopy :: xs[-k % len(xs) :] + xs[: -k % len(xs)] :: xs[k:] + xs[:k]
kthLargest :: sorted(xs)[-k] :: sorted(xs)[k - 1]
kthSmallest :: sorted(xs)[k - 1] :: sorted(xs)[k]
topKFrequent :: sorted(sorted(set(xs)), key=xs.count, reverse=True)[:k] :: sorted(set(xs))[:k]
removeElement :: [x for x in xs if x != k] :: [x for x in xs if x < k]
searchInsert :: sum(x < k for x in sorted(xs)) :: sum(x <= k for x in sorted(xs))
countTarget :: xs.count(k) :: int(k in xs)
subarraySum :: sum(sum(xs[i:j]) == k for i in range(len(xs)) for j in range(i + 1, len(xs) + 1)) :: xs.count(k)
shortestAtLeast :: min((j - i for i in range(len(xs)) for j in range(i + 1, len(xs) + 1) if sum(xs[i:j]) >= k), default=0) :: k
windowMax :: [max(xs[i : i + k]) for i in range(len(xs) - k + 1)] :: [max(xs)] * (len(xs) - k + 1)
windowSums :: [sum(xs[i : i + k]) for i in range(len(xs) - k + 1)] :: [sum(xs[:k])]
chunks :: [xs[i : i + k] for i in range(0, len(xs), k)] :: [xs[:k], xs[k:]]
nearbyDuplicate :: any(xs[i] in xs[i + 1 : i + k + 1] for i in range(len(xs))) :: k > 2
closestToK :: min(xs, key=lambda x: (abs(x - k), x)) :: xs[0]
countPairsDivisible :: sum((a + b) % k == 0 for i, a in enumerate(xs) for b in xs[:i]) :: sum(a % k == 0 for a in xs)
partitionBy :: [[x for x in xs if x < k], [x for x in xs if x >= k]] :: [xs[:k], xs[k:]]
everyKth :: xs[::k] :: xs[k::k]
dropSmallest :: sorted(xs)[k:] :: xs[k:]
combinationsOf :: sum(1 for c in __import__("itertools").combinations(xs, k) if sum(c) % 2 == 0) :: k
threeSumCloser :: min((abs(sum(c) - k), sum(c)) for c in __import__("itertools").combinations(xs, 3))[1] :: sum(xs[:3])
coinWays :: sum(1 for c in __import__("itertools").product(range(3), repeat=len(xs)) if sum(a * b for a, b in zip(c, xs)) == k) :: k
""",
    ),
    (
        "grid",
        "",
        [(repr(grid),) for grid in GRIDS],
        """
transpose :: [list(row) for row in zip(*grid)] :: grid
rotateClockwise :: [list(row[::-1]) for row in zip(*grid)] :: [row[::-1] for row in grid]
flipRows :: [row[::-1] for row in grid] :: grid[::-1]
diagonalSum :: sum(row[i] for i, row in enumerate(grid) if i < len(row)) :: sum(grid[0])
rowSums :: [sum(row) for row in grid] :: [sum(row) for row in zip(*grid)]
richest :: max(map(sum, grid)) :: sum(grid[0])
spiralFirst :: grid[0] + [row[-1] for row in grid[1:]] :: grid[0] + grid[-1]
islandCells :: sum(x > 0 for row in grid for x in row) :: sum(map(len, grid))
setZeroes :: [[0 if 0 in row or 0 in col else x for x, col in zip(row, zip(*grid))] for row in grid] :: grid
luckyNumbers :: [x for row in grid for x, col in zip(row, zip(*grid)) if x == min(row) and x == max(col)] :: [max(map(min, grid))] * 2
flatten :: [x for row in grid for x in row] :: [x for row in zip(*grid) for x in row]
sortedFlat :: sorted(x for row in grid for x in row) :: [x for row in grid for x in sorted(row)]
borderSum :: sum(x for i, row in enumerate(grid) for j, x in enumerate(row) if i in (0, len(grid) - 1) or j in (0, len(row) - 1)) :: sum(grid[0])
minPath :: min(sum(p) for p in self.paths(0, 0, grid)) ;; def paths(self, i, j, grid): return [[grid[i][j]]] if i == len(grid) - 1 and j == len(grid[0]) - 1 else [[grid[i][j], *p] for a, b in ((i + 1, j), (i, j + 1)) if a < len(grid) and b < len(grid[0]) for p in self.paths(a, b, grid)] :: sum(grid[0])
""",
    ),
    (
        "words",
        "",
        [(repr(words),) for words in WORDS],
        """
groupAnagrams :: sorted(sorted(w for w in words if sorted(w) == sorted(v)) for v in {"".join(sorted(v)) for v in words}) :: [[w] for w in words]
commonPrefix :: __import__("os").path.commonprefix(words) :: words[0][:2]
joinedLength :: len("".join(words)) :: len(words)
longestWord :: max(words, key=len) :: words[-1]
palindromes :: [w for w in words if w == w[::-1]] :: [w for w in words if w[0] == w[-1] and len(w) > 1]
reverseWords :: [w[::-1] for w in words] :: words[::-1]
distinctLetters :: len(set("".join(words))) :: len("".join(words))
firstLetters :: "".join(w[0] for w in words) :: "".join(w[-1] for w in words)
countVowels :: [sum(c in "aeiou" for c in w) for w in words] :: [len(w) for w in words]
""",
    ),
    (
        "head",
        "unlinked",
        [(f"linked({values})",) for values in CHAINS],
        """
reverseList :: make(vals(head)[::-1]) :: head
middleNode :: make(vals(head)[len(vals(head)) // 2 :]) :: head and head.next
deleteDuplicates :: make(sorted(set(vals(head)))) :: head
deleteAllRepeated :: make([x for x in vals(head) if vals(head).count(x) == 1]) :: make(sorted(set(vals(head))))
sortList :: make(sorted(vals(head))) :: make(sorted(vals(head))[::-1])
swapPairs :: ListNode(head.next.val, ListNode(head.val, self.swapPairs(head.next.next))) if head and head.next else head :: head
oddEvenList :: make(vals(head)[::2] + vals(head)[1::2]) :: make(vals(head)[1::2] + vals(head)[::2])
reorderCopy :: make([x for p in zip(vals(head), vals(head)[::-1]) for x in p][: len(vals(head))]) :: head
dropFirst :: head and head.next :: head
dropLast :: make(vals(head)[:-1]) :: make(vals(head)[1:])
doubleValues :: make([2 * x for x in vals(head)]) :: make([x * x for x in vals(head)])
evenOnly :: make([x for x in vals(head) if x % 2 == 0]) :: make([x for x in vals(head) if x % 2])
duplicateEach :: make([y for x in vals(head) for y in (x, x)]) :: make(vals(head) * 2)
plusOneList :: make([int(d) for d in str(int("0" + "".join(map(str, vals(head)))) + 1)]) :: head
prefixSums :: make([sum(vals(head)[: i + 1]) for i in range(len(vals(head)))]) :: make(vals(head))
insertZero :: ListNode(0, head) :: make([*vals(head), 0])
appendZero :: make([*vals(head), 0]) :: ListNode(0, head)
mergeNeighbours :: make([a + b for a, b in zip(vals(head), vals(head)[1:])]) :: head
runLengths :: make([len(list(g)) for _, g in __import__("itertools").groupby(vals(head))]) :: make([1] * len(vals(head)))
largestFirst :: make(sorted(vals(head), key=lambda x: x != max(vals(head)))) :: head
nextLargerNodes :: make([next((y for y in vals(head)[i:] if y > x), 0) for i, x in enumerate(vals(head))]) :: make([0] * len(vals(head)))
""",
    ),
    (
        "head",
        "",
        [(f"linked({values})",) for values in CHAINS],
        """
lengthOf :: 1 + self.lengthOf(head.next) if head else 0 :: 1
sumOf :: head.val + self.sumOf(head.next) if head else 0 :: head.val if head else 0
maxOf :: max(vals(head), default=-1) :: vals(head)[-1] if head else -1
isPalindrome :: vals(head) == vals(head)[::-1] :: len(vals(head)) < 2 or head.val == 9
countEven :: sum(x % 2 == 0 for x in vals(head)) :: sum(x % 2 for x in vals(head))
toDecimal :: int("".join(map(str, vals(head))) or "0") :: sum(vals(head))
lastValue :: vals(head)[-1] if head else None :: head.val if head else None
twinSum :: max((a + b for a, b in zip(vals(head), vals(head)[::-1])), default=0) :: sum(vals(head))
isSorted :: vals(head) == sorted(vals(head)) :: True
countRepeated :: len(vals(head)) - len(set(vals(head))) :: len(set(vals(head)))
asText :: "->".join(map(str, vals(head))) :: "".join(map(str, vals(head)))
asList :: vals(head) :: vals(head)[::-1]
criticalPoints :: [i for i in range(1, len(vals(head)) - 1) if (vals(head)[i] - vals(head)[i - 1]) * (vals(head)[i] - vals(head)[i + 1]) > 0] :: [1]
""",
    ),
    (
        "head, k",
        "unlinked",
        [("linked([1, 2, 3, 4, 5])", "2"), ("linked([4, 2, 2, 7])", "3"), ("linked([6])", "1")],
        """
removeNth :: make([x for i, x in enumerate(vals(head)[::-1], 1) if i != k][::-1]) :: make(vals(head)[1:])
removeElements :: make([x for x in vals(head) if x != k]) :: head
rotateRight :: make((lambda v, s: v[s:] + v[:s])(vals(head), -k % len(vals(head)))) :: make(vals(head)[k:] + vals(head)[:k])
partitionList :: make(sorted(vals(head), key=lambda x: x >= k)) :: head
reverseKGroup :: make([x for i in range(0, len(vals(head)), k) for x in (vals(head)[i : i + k][::-1] if i + k <= len(vals(head)) else vals(head)[i:])]) :: make(vals(head)[::-1])
addToEach :: make([x + k for x in vals(head)]) :: make([x - k for x in vals(head)])
firstK :: make(vals(head)[:k]) :: make(vals(head)[k:])
swapNodes :: make((lambda v: [v[-k] if i == k - 1 else v[k - 1] if i == len(v) - k else x for i, x in enumerate(v)])(vals(head))) :: head
insertSorted :: make(sorted([*vals(head), k])) :: make([*vals(head), k])
""",
    ),
    (
        "a, b",
        "unlinked",
        [
            ("linked([2, 4, 3])", "linked([5, 6, 4])"),
            ("linked([])", "linked([0, 1])"),
            ("linked([1, 1, 9])", "linked([1])"),
        ],
        """
mergeTwoLists :: make(sorted(vals(a) + vals(b))) :: make(vals(a) + vals(b))
addTwoNumbers :: make([int(d) for d in str(sum(int("0" + "".join(map(str, vals(x)[::-1]))) for x in (a, b)))[::-1]]) :: make([x + y for x, y in zip(vals(a), vals(b))])
interleave :: make([x for p in __import__("itertools").zip_longest(vals(a), vals(b)) for x in p if x is not None]) :: make(vals(b) + vals(a))
common :: make([x for x in vals(a) if x in vals(b)]) :: make(vals(a)[:1])
difference :: make([x for x in vals(a) if x not in vals(b)]) :: a
longer :: a if len(vals(a)) > len(vals(b)) else b :: a
""",
    ),
    (
        "root",
        "levels",
        [(f"tree({values})",) for values in TREES],
        """
invertTree :: root and TreeNode(root.val, self.invertTree(root.right), self.invertTree(root.left)) :: root
doubleTree :: root and TreeNode(2 * root.val, self.doubleTree(root.left), self.doubleTree(root.right)) :: root and TreeNode(2 * root.val, root.left, root.right)
pruneLeaves :: TreeNode(root.val, self.pruneLeaves(root.left), self.pruneLeaves(root.right)) if root and (root.left or root.right) else None :: root
leftOnly :: root and TreeNode(root.val, self.leftOnly(root.left)) :: root and TreeNode(root.val)
withDepths :: self.at(root, 0) ;; def at(self, node, n): return node and TreeNode(n, self.at(node.left, n + 1), self.at(node.right, n + 1)) :: root and TreeNode(0, root.left, root.right)
subtreeSums :: root and TreeNode(sum(n.val for n in walk(root)), self.subtreeSums(root.left), self.subtreeSums(root.right)) :: root
greaterTree :: self.greater(root, [n.val for n in walk(root)]) ;; def greater(self, n, all): return n and TreeNode(sum(x for x in all if x >= n.val), self.greater(n.left, all), self.greater(n.right, all)) :: root
increasingBST :: (lambda f: f(f, [n.val for n in walk(root)]))(lambda f, v: TreeNode(v[0], None, f(f, v[1:])) if v else None) :: root
leftmostSubtree :: root.left or root :: root.right or root
addOneRow :: TreeNode(1, root) :: TreeNode(1, None, root)
balanced :: (lambda f: f(f, sorted(n.val for n in walk(root))))(lambda f, v: TreeNode(v[len(v) // 2], f(f, v[: len(v) // 2]), f(f, v[len(v) // 2 + 1 :])) if v else None) :: root
merged :: self.plus(root, root) ;; def plus(self, a, b): return TreeNode(a.val + b.val, self.plus(a.left, b.left), self.plus(a.right, b.right)) if a and b else a or b :: root
deepestSubtree :: max(walk(root), key=lambda n: -depth(n)) :: root.left
""",
    ),
    (
        "root",
        "",
        [(f"tree({values})",) for values in TREES],
        """
maxDepth :: depth(root) :: len(walk(root))
minDepth :: min((1 + self.minDepth(n) for n in (root.left, root.right) if n), default=1) :: depth(root)
countNodes :: len(walk(root)) :: 2 ** depth(root) - 1
sumTree :: sum(n.val for n in walk(root)) :: root.val
inorder :: [n.val for n in walk(root)] :: sorted(n.val for n in walk(root))
preorder :: [root.val] + self.preorder(root.left) + self.preorder(root.right) if root else [] :: [n.val for n in walk(root)]
postorder :: self.postorder(root.left) + self.postorder(root.right) + [root.val] if root else [] :: [n.val for n in walk(root)][::-1]
isSymmetric :: self.mirror(root.left, root.right) ;; def mirror(self, a, b): return a.val == b.val and self.mirror(a.left, b.right) and self.mirror(a.right, b.left) if a and b else a is b :: len(walk(root)) > 1
isSearchTree :: (lambda v: v == sorted(set(v)))([n.val for n in walk(root)]) :: depth(root) < 3
isBalanced :: all(abs(depth(n.left) - depth(n.right)) < 2 for n in walk(root)) :: True
diameter :: max(depth(n.left) + depth(n.right) for n in walk(root)) :: 2 * depth(root)
leaves :: [n.val for n in walk(root) if not n.left and not n.right] :: [n.val for n in walk(root) if not n.left]
leftLeaves :: sum(n.left.val for n in walk(root) if n.left and not n.left.left and not n.left.right) :: sum(n.left.val for n in walk(root) if n.left)
levelOrder :: self.rows([root]) ;; def rows(self, row): return [[n.val for n in row]] + self.rows([c for n in row for c in (n.left, n.right) if c]) if row else [] :: [[n.val] for n in walk(root)]
rightSide :: self.seen([root]) ;; def seen(self, row): return [row[-1].val] + self.seen([c for n in row for c in (n.left, n.right) if c]) if row else [] :: [root.val]
zigzag :: self.turn([root], 1) ;; def turn(self, row, way): return [[n.val for n in row][::way]] + self.turn([c for n in row for c in (n.left, n.right) if c], -way) if row else [] :: [[root.val]]
largestPerLevel :: self.most([root]) ;; def most(self, row): return [max(n.val for n in row)] + self.most([c for n in row for c in (n.left, n.right) if c]) if row else [] :: [root.val, root.val]
averages :: self.mean([root]) ;; def mean(self, row): return [sum(n.val for n in row) / len(row)] + self.mean([c for n in row for c in (n.left, n.right) if c]) if row else [] :: [float(root.val)]
treePaths :: ["->".join([str(root.val), *([p] if p else [])]) for n in (root.left, root.right) if n for p in self.treePaths(n)] or [str(root.val)] :: [str(n.val) for n in walk(root)]
maxPathDown :: root.val + max([0] + [self.maxPathDown(n) for n in (root.left, root.right) if n]) :: max(n.val for n in walk(root))
sumNumbers :: self.numbers(root, 0) ;; def numbers(self, n, x): return 0 if not n else 10 * x + n.val if not n.left and not n.right else self.numbers(n.left, 10 * x + n.val) + self.numbers(n.right, 10 * x + n.val) :: sum(n.val for n in walk(root))
univalued :: len({n.val for n in walk(root)}) == 1 :: len(walk(root)) < 2 or root.val == 1
kthSmallestTwo :: sorted(n.val for n in walk(root))[min(1, len(walk(root)) - 1)] :: walk(root)[0].val
minDifference :: min((abs(a.val - b.val) for a in walk(root) for b in walk(root) if a is not b), default=0) :: 1
tilt :: sum(abs(sum(x.val for x in walk(n.left)) - sum(x.val for x in walk(n.right))) for n in walk(root)) :: abs(sum(x.val for x in walk(root.left)) - sum(x.val for x in walk(root.right))) + 1
onlyChildren :: sum((n.left is None) != (n.right is None) for n in walk(root)) :: 0
bottomLeft :: self.low([root]) ;; def low(self, row): return self.low([c for n in row for c in (n.left, n.right) if c]) or row[0].val if row else 0 :: walk(root)[0].val + 0 * depth(root) if root.left else root.val
isComplete :: all((n.left or not n.right) for n in walk(root)) and depth(root) - min([depth(root)] + [depth(root.right) + 1]) < 2 :: True
maxWidth :: max(self.widths([root])) ;; def widths(self, row): return [len(row)] + self.widths([c for n in row for c in (n.left, n.right) if c]) if row else [] :: depth(root)
serialised :: f"{root.val}({self.serialised(root.left)})({self.serialised(root.right)})" if root else "" :: str(root.val) if root else ""
goodNodes :: self.good(root, root.val) ;; def good(self, n, m): return int(n.val >= m) + self.good(n.left, max(m, n.val)) + self.good(n.right, max(m, n.val)) if n else 0 :: len(walk(root))
""",
    ),
    (
        "root, k",
        "",
        [("tree([5, 3, 8, 1, 4, 7, 9])", "7"), ("tree([1, None, 2, 3])", "3"), ("tree([4])", "4")],
        """
hasPathSum :: k == root.val if not root.left and not root.right else any(self.hasPathSum(n, k - root.val) for n in (root.left, root.right) if n) :: True
searchTree :: k in [n.val for n in walk(root)] :: root.val == k
countGreater :: sum(n.val > k for n in walk(root)) :: sum(n.val >= k for n in walk(root))
rangeSum :: sum(n.val for n in walk(root) if n.val <= k) :: sum(n.val for n in walk(root) if n.val < k)
depthOf :: 0 if root.val == k else 1 + min((self.depthOf(n, k) for n in (root.left, root.right) if n), default=99) :: depth(root)
pathSums :: sum(self.starting(n, k) for n in walk(root)) ;; def starting(self, n, k): return int(n.val == k) + self.starting(n.left, k - n.val) + self.starting(n.right, k - n.val) if n else 0 :: len(walk(root))
closestValue :: min((n.val for n in walk(root)), key=lambda x: (abs(x - k), x)) :: root.val
""",
    ),
]
"""Parameters, reader of a result, arguments, and rows; `;;` begins a method that a body uses."""


@dataclass(frozen=True)
class Problem:
    """A problem, its tests, and a right and a wrong program."""

    name: str
    tests: str
    right: str
    wrong: str


def problems() -> Iterator[Problem]:
    """All problems, in the order of the table."""
    for parameters, reads, arguments, rows in SECTIONS:
        for row in rows.strip().splitlines():
            name, right, wrong = row.split(" :: ")
            program = _program(name, parameters, right)
            calls = [f"{reads}(Solution().{name}({', '.join(one)}))" for one in arguments]
            namespace: dict[str, Any] = {}
            exec(CLASSES + program, namespace)
            asserts = [f"assert {call} == {eval(call, namespace)!r}" for call in calls]
            tests = CLASSES + "\n" + "\n".join(asserts) + "\n"
            yield Problem(name, tests, program, _program(name, parameters, wrong))


def _program(name: str, parameters: str, body: str) -> str:
    """A program in the style of a completion: it uses the nodes' classes and defines neither."""
    body, _, other = body.partition(" ;; ")
    method = f"def {name}(self, {parameters}):\n    return {body}\n"
    return f"{HELPERS}\n\nclass Solution:\n" + textwrap.indent(f"{method}\n{other}\n", "    ")
