"""A program as an agent: it reads its prompt, works in the repository, and leaves the three deliverables.

It runs the repository's unit tests and says so honestly; put your own research in their place. With
`model = true` in the TOML file any OpenAI or Anthropic client here would reach the run's model.
"""

import json
import pathlib
import subprocess
import sys

prompt = sys.stdin.read()
print("the question:", prompt.split("# Question\n")[1].split("\n")[0][:80], "…")

script = "#!/bin/bash\nset -e\npython -m unittest discover tests 2>&1\n"
pathlib.Path("reproduce_exp_bench.sh").write_text(script)
done = subprocess.run(["bash", "reproduce_exp_bench.sh"], capture_output=True, text=True)
answer = {"design": "Measured: the unit tests.", "conclusion": f"Not answered. {done.stdout}"}
pathlib.Path("response.json").write_text(json.dumps(answer))

print(subprocess.run(["expbench-check", "--run"], capture_output=True, text=True).stdout)
