"""What an agent made: found by comparing trees, as a patch, a text and a response."""
