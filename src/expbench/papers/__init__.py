"""A paper's PDF as pages and elements, each with its place."""
