"""Pushing: which webhooks may be called, and what is sent to them, in order, until it has come."""
