"""Running untrusted programs: `Runner` runs them, an `Execution` says what happened."""
