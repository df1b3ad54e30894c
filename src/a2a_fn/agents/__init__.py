"""Who answers: the port (``agent``), and the agents that ship: ``executor`` (any a2a-sdk
AgentExecutor), ``iac`` (the Infrastructure-as-Code assistant), ``echo``."""
