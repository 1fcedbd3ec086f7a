"""The human check: a local page on which drafts of tasks, a judge's verdicts and findings are reviewed.

- :mod:`~expbench.review.decisions`: what reviewers decided, and a draft with it, for other stages;
- ``book``: one reviewer's decisions, kept as they are made;
- ``views``: what the page shows, in records;
- ``project``, ``attempts``: a construction project, or a run, as something to review;
- ``agreeing``: how far reviewers agree;
- ``labelled``: a run's labels as sets for ``judge-eval`` and ``monitor-eval``;
- ``web``, ``guarding``, ``serving``: the page's server on the loopback;
- ``static``, ``templates``: the page.
"""
