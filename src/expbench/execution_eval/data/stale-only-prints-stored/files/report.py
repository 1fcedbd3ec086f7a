import json

for data, row in json.load(open('results.json')).items():
    for model, value in row.items():
        print(f'{data} {model}: {value:.4f}')
