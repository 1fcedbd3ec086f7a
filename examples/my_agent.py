"""An agent of one's own: an async function that works through the workspace and returns.

It runs the repository's unit tests and reports what they said. That is real work and no answer to the
question, so only M and E are right; put your own research where the tests are run.
"""

import json


async def my_agent(task, workspace):
    await workspace.write("reproduce_exp_bench.sh", "python -m unittest discover tests")
    done = await workspace.run("bash reproduce_exp_bench.sh")
    answer = {"design": "Measured: the unit tests.", "conclusion": f"Not answered. {done.output}"}
    await workspace.write("response.json", json.dumps(answer))
