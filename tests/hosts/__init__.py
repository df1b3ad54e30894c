"""The functions as their platform calls them, with the events in ``events/``."""
