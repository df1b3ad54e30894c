"""The command `a2a-fn`: a client for any A2A agent, the offline engine, and the local host.

Exit codes:

| code | meaning |
| --- | --- |
| 0 | done |
| 1 | the task failed, was rejected or canceled; the review failed; nothing was generated |
| 2 | bad usage or bad input: an option, a file, an unknown task, a message that was refused |
| 3 | the server cannot be reached, cannot answer, or did not answer in time |
| 130 | stopped with Ctrl-C |
"""

from __future__ import annotations
