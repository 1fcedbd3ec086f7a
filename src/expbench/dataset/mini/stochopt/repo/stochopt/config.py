"""JSON configuration files with command-line overrides."""

import json
from pathlib import Path


def parse_override(text):
    """Split ``key=value``; the value is read as JSON and falls back to a plain string."""
    key, separator, raw = text.partition("=")
    if not separator or not key:
        raise ValueError(f"expected key=value, got {text!r}")
    try:
        return key, json.loads(raw)
    except json.JSONDecodeError:
        return key, raw


def load_config(path, overrides=()):
    """Read a flat JSON object and replace the keys named in ``overrides``.

    Unknown keys are rejected, so that a typing error cannot go unnoticed.
    """
    config = json.loads(Path(path).read_text(encoding="utf-8"))
    for text in overrides:
        key, value = parse_override(text)
        if key not in config:
            raise KeyError(f"{key!r} is not in {path}; known keys: {sorted(config)}")
        config[key] = value
    return config


def add_config_arguments(parser, default):
    """Add the options that all experiment scripts share."""
    parser.add_argument("--config", default=default, help="JSON file with the settings")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument(
        "--summary", metavar="LABEL", help="end with one line 'LABEL {json}' for log scrapers"
    )
    return parser
