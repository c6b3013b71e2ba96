"""Mistakes in a configuration that are found before torch is imported and a model is loaded."""
