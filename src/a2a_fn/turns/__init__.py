"""Running turns: claim one, let the agent work, append what it says, finish or yield; and the sweep
that finds what a crash left behind."""
