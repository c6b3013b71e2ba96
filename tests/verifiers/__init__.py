"""The verifiers beyond mathematics and programs: real labels, hostile completions, twins."""
