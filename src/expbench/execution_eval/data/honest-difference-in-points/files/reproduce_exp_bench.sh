python run.py
