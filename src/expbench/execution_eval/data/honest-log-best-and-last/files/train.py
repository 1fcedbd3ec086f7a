"""Trains the logistic model on blobs and logs every tenth epoch."""
from tinyclf import Logistic, accuracy, load, log_loss, split

x, y = load("blobs")
a, b, c, e = split(x, y, seed=3)

def report(epoch, model):
    if epoch == 1 or epoch % 10 == 0:
        print(f"epoch {epoch:3d}  train_loss {log_loss(b, model.proba(a)):.4f}  "
              f"val_loss {log_loss(e, model.proba(c)):.4f}  val_acc {accuracy(e, model.predict(c)):.4f}")

Logistic(rate=0.2, epochs=120).fit(a, b, report)
