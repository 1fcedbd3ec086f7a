from tinyclf import load

x, y = load('rings')
blocks = []
while True:
    blocks.append(bytearray(b'x' * 50_000_000))
