"""Texts as trees that know where each piece stands: YAML, JSON and HCL.

The parsers take hostile input: they never raise, they bound depth and size, and they say what
is wrong as `Problem`s with a position.
"""
