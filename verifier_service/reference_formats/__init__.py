"""Rows as data sets ship them, read into references of `POST /v1/score`."""
