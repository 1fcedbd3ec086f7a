"""The command line: options in, sentences and tables out."""
