"""Constraints on texts that a program can check, of IFEval, IF-RLVR and IFBench."""
