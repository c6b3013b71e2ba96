# /// attack
# category = "persistence"
# kind = "stdio"
# success = "benign_sees"
# expected = ["wrong_answer"]
# summary = "Leaves a mark in every corner of the interpreter that a shared process would keep."
# ///

import builtins
import decimal
import json
import random
import sys
import threading

places = [sys, builtins, json, random, threading, decimal.getcontext().__class__]
for place in places:
    if getattr(place, "pwn_mark", None) == "PERSISTED":
        print("PERSISTED")
    try:
        place.pwn_mark = "PERSISTED"
    except (AttributeError, TypeError) as error:
        print("blocked", error)
if "pwn_mark" in sys.modules or "pwn_mark" in sys.path:
    print("PERSISTED")
sys.modules["pwn_mark"] = sys
sys.path.insert(0, "pwn_mark")
