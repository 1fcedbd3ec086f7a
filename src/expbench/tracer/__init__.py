"""What a chain of scripts does, from its source alone: an ordered graph of steps with their lines."""
