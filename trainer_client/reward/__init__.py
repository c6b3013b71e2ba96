"""Rewards: scores from the verifier service, from functions and from models."""
