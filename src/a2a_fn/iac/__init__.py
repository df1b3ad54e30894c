"""Infrastructure as Code, offline: read templates, review them, write them.

Nothing here knows A2A, HTTP or a cloud: text comes in, values go out.
"""
