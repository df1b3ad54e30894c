"""The durable core: a context's append-only journal is the lock, and everything else is a view.

``slots`` what is written · ``fold`` what it means (pure) · ``journal`` how it is written and read ·
``view`` what an actor knows meanwhile · ``heads`` the views that are stored · ``index``, ``lists``
lists · ``alarms`` what no crash may lose · ``intents`` what clients ask for (submit, cancel) ·
``stream`` following a task's events.

It knows nothing of HTTP, of any cloud, and of who runs it. The rules are model-checked; the
numbers in comments ("rule 3") are those of ``docs/decisions/0001-the-journal-is-the-lock.md``.
"""
