"""``expbench-check``: by it an agent sees in its sandbox whether what it will hand in is of the right form.

It looks at ``response.json`` and the script, and with ``--run`` runs the script in a copy of the
workspace. It knows nothing of the task's answer, needs nothing but Python 3.7 and ``bash``, and leaves
the workspace as it is. The modules here are shown in the sandbox as a package of their own, with
``workspace/submission/ignored.py`` beside them: the rules of what is handed in are the same ones.
"""
