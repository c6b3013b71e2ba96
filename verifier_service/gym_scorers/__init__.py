"""The scorers of the package reasoning-gym, without what they would run of an answer."""
