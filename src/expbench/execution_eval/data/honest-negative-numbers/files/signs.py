from recal.data import make_scores

p, true, y = make_scores(20000, 12, sharpness=1.6)
for label, part in (("below one half", p < 0.5), ("above one half", p >= 0.5)):
    print(f"{label}: mean of reported - true = {(p - true)[part].mean():+.4f} on {part.sum()} scores")
