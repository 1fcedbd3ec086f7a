"""Words that many descriptions of experiments share, so that they tell little of any one of them.

Counted over the questions and ground truths of the released tasks: in how many of their 51 papers a word
stands. Names of products and single letters are left out.
"""

from __future__ import annotations

from expbench.judges.lexicon import word_set

FREQUENT = word_set(
    """
    accuracy achieve additional analysis applied appropriate architecture baseline batch
    class combined command compared components conditions demonstrate detailed distributed
    effectiveness enhanced ensure environment epochs execution extract format framework gpu
    handle including information input instructions like line log loss mean module multi
    multiple necessary optimization parse path percentage process random rate remain
    required samples scores selected significantly similarity single specified split
    standard structure support table task time validation varying visualization yield
    """
)
"""In three of five papers or more."""

COMMON = word_set(
    """
    ability add adjusted affect aggregation alignment allow along analyze attention
    available balance behavior block call capabilities capture cases categories changes
    checkpoint close collect comparable comparative completion complexity computational
    conducted confirming consistency constraints containing context contribute controlled
    conversation convert correction corresponding cost curve custom default dependencies
    described design detection dimensions directly disabled effective efficiency efficient
    employ enabled encoder error estimation exact exhibit existing experimental extended
    factor features find following forward full generalization ground group hardware
    identical image impact incorporating independent inference initial integration intervals
    json keeping key label language layers length level leveraging maintaining maps match
    mechanism memory mode modified move needed normalization numerical operations optional
    optionally order original outcome pair paper particularly patterns pipeline potential
    precision prediction prepare preprocessing pretrained produce prompt proper proposals
    protocol qualitative quality range reduction reference reflect relative removing repeat
    representation reproducibility robust scale schedule second seed separate sequence
    slightly source space specifically speed state statistical statistics subset system
    target terms text thereby threshold tokens top track transformer trend true truth tuning
    understanding uniformly update usage user utility variant verify version visual weight
    well whether work
    """
)
"""In three to six of ten papers."""
