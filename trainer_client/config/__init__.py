"""The configuration of a run: one YAML file, typed, with presets."""
