"""The product as its users run it: real processes, real clients, real kills."""
