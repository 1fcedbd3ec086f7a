from queuesim import mean, simulate

print(f'fifo at load 0.5: mean wait {mean(simulate("fifo", 0.5, 4000, 1)):.3f}')
