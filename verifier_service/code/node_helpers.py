"""The nodes of LeetCode, and functions that make and compare them, which its tests call by name.

LeetCodeDataset defines them in its prompt, and its tests have the calls alone. Without a definition
they would be names of the program, which could answer for its own results.
"""

from __future__ import annotations

import re

LIST_NODE = """
class ListNode:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next
"""
TREE_NODE = """
class TreeNode:
    def __init__(self, val=0, left=None, right=None):
        self.val = val
        self.left = left
        self.right = right
"""
_LISTS = f"""{LIST_NODE}

def list_node(values):
    head = None
    for value in reversed(values):
        head = ListNode(value, head)
    return head


def is_same_list(one, other):
    while one and other:
        if one.val != other.val:
            return False
        one, other = one.next, other.next
    return one is None and other is None
"""
_TREES = f"""{TREE_NODE}

def tree_node(values):
    if not values:
        return None
    root = TreeNode(values[0])
    waiting, rest = [root], list(values[1:])
    while rest and waiting:
        node = waiting.pop(0)
        for side in ("left", "right"):
            value = rest.pop(0) if rest else None
            if value is not None:
                setattr(node, side, TreeNode(value))
                waiting.append(getattr(node, side))
    return root


def is_same_tree(one, other):
    waiting = [(one, other)]
    while waiting:
        one, other = waiting.pop()
        if one is None and other is None:
            continue
        if one is None or other is None or one.val != other.val:
            return False
        waiting += [(one.left, other.left), (one.right, other.right)]
    return True
"""
_HELPERS = (
    (("list_node", "is_same_list"), _LISTS),
    (("tree_node", "is_same_tree"), _TREES),
)
"""Names of helpers, and the source that defines them."""


def with_node_helpers(code: str) -> str:
    """Test code with the definitions of the helpers that it calls and does not define.

    >>> "class ListNode" in with_node_helpers("assert is_same_list(f(list_node([1])), None)")
    True
    >>> with_node_helpers("assert f(1) == 2")
    'assert f(1) == 2'
    """
    needed = [source for names, source in _HELPERS if any(_lacks(code, name) for name in names)]
    return "".join(needed) + code if needed else code


def _lacks(code: str, name: str) -> bool:
    """Whether test code uses a name, and has no function of that name."""
    return re.search(rf"\b{name}\b", code) is not None and f"def {name}(" not in code
