python loads.py
