import urllib.request

url = 'https://datasets.example.org/rings-large.csv'
print('downloading', url)
with urllib.request.urlopen(url, timeout=5) as answer:
    print(len(answer.read()))
