"""From a paper and its repository to verified tasks: the construction pipeline (publication, section 3)."""
