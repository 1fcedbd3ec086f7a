"""The baseline judge with the extra ``embedding``: a sentence model beside the words.

The checks of values, units, negations and comparisons are the baseline's; similarity only makes up for words
that a text says in another way. Its record names the model and the weights by their digest.
"""

from __future__ import annotations

import hashlib
import json

from expbench.judges.baseline import EMBEDDED, BaselineJudge
from expbench.judges.code import CODE
from expbench.judges.embedding import MODEL_DIGEST, sentence_model
from expbench.judges.prose import CLAIM_ALIKE, DESIGN_ALIKE


class EmbeddedJudge(BaselineJudge):
    """The lexical judge that also compares meanings.

    Raises:
        PrerequisiteError: the extra is not installed, or is another model.
    """

    name = EMBEDDED
    prompt_digest = hashlib.sha256(
        json.dumps(
            [MODEL_DIGEST, *([s.bias, dict(s.weights)] for s in (DESIGN_ALIKE, CLAIM_ALIKE, CODE))]
        ).encode()
    ).hexdigest()

    def __init__(self) -> None:
        super().__init__(sentence_model().similarity)
