"""An agent that says what it was told: for trying a deployment out."""

from __future__ import annotations

from ..turns.turn import Turn


class EchoAgent:
    """Answers with the text of the message, word by word, and completes the task."""

    async def run(self, turn: Turn) -> None:
        """Say the message's text."""
        for word in turn.text.split(" "):
            await turn.say(word + " ")
        await turn.complete()
