"""Axioms that a proof may rest on where its task names none."""

from __future__ import annotations

COQ_AXIOMS = (
    *("classic", "functional_extensionality_dep", "propositional_extensionality"),
    *("proof_irrelevance", "eq_rect_eq", "JMeq_eq", "constructive_indefinite_description"),
    *("constructive_definite_description", "epsilon_statement", "iota_statement"),
    *("relational_choice", "dependent_unique_choice", "Extensionality_Ensembles"),
    *("sig_forall_dec", "sig_not_dec"),
)
"""Axioms of Coq's standard library, by their last names: classical logic, choice, extensionality,
and those of its real numbers. Together they are consistent."""
LEAN_AXIOMS = ("propext", "Classical.choice", "Quot.sound")
"""Axioms of Lean's core, on which Mathlib rests."""
NATIVE_AXIOMS = ("Lean.ofReduceBool", "Lean.trustCompiler")
"""Axioms of proofs that compiled code decides."""
