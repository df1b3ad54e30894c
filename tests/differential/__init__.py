"""The a2a-sdk's own server as the oracle: the same requests to both, and the answers compared.

``agent`` is the AgentExecutor that both run, ``corpus`` the scenarios as data, ``servers`` the two
servers, ``player`` plays a scenario on one of them, ``likeness`` says where two answers differ, and
``deviations`` lists where they should, with the specification's sentence.
"""
