"""Which numbers of a conclusion are no claims: settings, sizes, references, expectations, hopes."""

from __future__ import annotations

import re

from expbench.grounding.figures import Figure, figures
from expbench.grounding.passages import Conclusion, Passage
from expbench.schema import ResearchTask

_REFERENCE = re.compile(
    r"\b(?:figures?|figs?|tables?|tab|sections?|sec|equations?|eqs?|appendix|item|type|line|lines|chapter|"
    r"experiments?|algorithm|python|numpy|scipy|torch|pytorch|jax|cuda|version|ver|v(?!s)|release|layer|stage|"
    r"level|"
    r"rank|position|phase|part|question|hypothesis|claim|step|issue|page)s?\.?\s*(?:#|no\.?)?\s*$",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"\b(?:python|numpy|scipy|torch|pytorch|jax|cuda|version|release|tensorflow|sklearn)\s?v?$",
    re.I,
)
_JOINT = r"[\s\"'`=:({\[≈~]{0,4}(?:(?:of|to|is|was|are|set to|equal to|from|between|=)\s)?[({\[]?$"
_SETTING = re.compile(
    r"(?:^|[^A-Za-z])(?:lrs?|learning[ _-]?rates?|batch(?:[ _-]?sizes?)?|dropout|"
    r"momentum|step sizes?|"
    r"weight[ _-]?decay|wd|betas?[ _]?[12]?\s?[=(]|tol(?:erance)?s?|thresholds?|(?:eps|epsilon|alpha|"
    r"gamma|lambda|tau|"
    r"ridge|floor|noise|prior|sigma)\s?=|temperature of)" + _JOINT,
    re.IGNORECASE,
)
_WHOLE_SETTING = re.compile(
    r"(?:^|[^A-Za-z\d])(?:epochs?|(?:random )?seeds?|"
    r"steps?(?: sizes?)?|iterations?|iters?|tau|sizes?|dim(?:ension)?s?|"
    r"horizons?|lags?|leads?|"
    r"folds?|runs?|trials?|layers?|windows?|depths?|members?|lengths?|budgets?|samples?|[nkmdhbwt]s?|"
    r"n_\w+|top|"
    r"quantiles?|max_\w+|num_\w+|bins?|clients?|workers?|degrees?|hidden|heads?|patience|ridge|floor|"
    r"noise|grid|patch|"
    r"kernel|stride|rounds?|gaps?|alpha|beta|gamma|level|width|x|examples|labels|size)" + _JOINT,
    re.IGNORECASE,
)
_AT = re.compile(
    r"\b[Aa]t\s(?:an?\s|the\s)?(?!about|around|roughly|least|most|only|nearly|almost|just|"
    r"some)[a-z_]+\s?=?\s?$"
)
_GIVEN = re.compile(
    r"(?:\b(?:[Aa]t|[Ww]ith|[Ff]or|[Ww]hen|[Uu]nder|[Ii]f|where|and|[Ii]n)\s(?:an?\s|the\s)?[A-Za-z_]+|\b(?:rho|sigma|mu|nu|"
    r"theta|eta|kappa|delta|lambda|tau|"
    r"alpha|beta|gamma|epsilon|eps|[ρσμνθηκδλταβγε]))\s?=\s?$"
)
_SINGLE = re.compile(r"(?:^|[^A-Za-z])[A-Za-z]\s?(?:=|is|of)?\s?$")
_COUNTED = re.compile(
    r"[\s-](?:(?!(?:after|with|in|at|for|on|of|and|to|from|by|per|over|within|using)\b)[A-Za-z]\w*[- ]){0,2}?"
    r"(?:seeds?|epochs?|runs?|re-?runs?|repetitions?|repeats?|trials?|folds?|"
    r"replicas?|"
    r"replicates?|samples?|examples?|labels?|observations?|data ?points?|steps?|iterations?|rounds?|"
    r"layers?|"
    r"neurons?|units?|features?|dimensions?|classes|arms?|members?|models?|methods?|data ?sets?|tasks?|"
    r"settings?|"
    r"cells?|sizes?|images?|documents?|tokens?|parameters?|series|weeks?|days?|years?|months?|workers?|"
    r"cores?|"
    r"gpus?|cpus?|hands?|puzzles?|problems?|instances?|pulls?|lags?|leads?|bins?|passes|windows?|"
    r"conditions?|"
    r"combinations?|decimals?|digits?|variables?|nodes?|policies|policy|algorithms?|estimators?|"
    r"configurations?|"
    r"configs?|values?|rows?|columns?|episodes?|agents?|users?|items?|queries|questions?|batches|"
    r"permutations?|"
    r"bootstraps?|resamples?|simulations?|draws?|replications?|datasets?|splits?|machines?|threads?|"
    r"levels?|"
    r"groups?|subjects?|patients?|sentences?|words?|characters?|times|of these|of them|others?|more|"
    r"such)\b(?!\s?(?:per\b|/))",
    re.IGNORECASE,
)
_UNDER = re.compile(
    r"\b(?:with|in|after|at|using|for|over|between)\s(?:about |only |just )?$", re.I
)
_THINGS = re.compile(r"\s[a-z]{3,}s\b(?!\s?(?:per\b|/))")
"""After *with*, *in*, *after*: so many of something is a condition."""
_RESULT_COUNT = re.compile(
    r"\s(?:\w+ ){0,2}?(?:errors?|mistakes?|failures?|violations?|disagreements?|wins?|losses|misses|false|"
    r"correct|"
    r"wrong|edges|clusters|conflicts|collisions|detections|hits|outliers|crashes|parameters|timeouts|"
    r"switches|warnings|alarms|rejections|restarts)\b",
    re.IGNORECASE,
)
_COSTS = re.compile(
    r"\b(?:needs?|needed|requires?|required|takes?|took|uses?|used|converge[sd]?(?: in| after| within|"
    r" at)?|"
    r"stop(?:s|ped)?(?: at| after)?|median|mean|average|averages|maximum|minimum|max|min|total(?: of)?|"
    r"counts?(?: of)?|finds?|found|makes?|made|solve[sd]?|returns?|returned|scores?|reach(?:es|ed)?|"
    r"there (?:is|are|was|were)|instead of|rather than|compared (?:with|to)|vs\.?|"
    r"versus|against|after only|in only|errors?|failures?|regret|loss|perplexity|length|peak)"
    r"(?:\s(?:is|was|of|in|only|about|just|at))?\s*[=:(]?\s*(?:about |only |just |~|≈)?$",
    re.IGNORECASE,
)
_AVERAGED = re.compile(r"\s(?:\w+ ){0,3}(?:on average|in the mean|in total|altogether)\b", re.I)
_NOMINAL = re.compile(
    r"[\s-]{0,2}(?:\(?(?:confidence|ci\b|credible|prediction|bootstrap|nominal|interval|quantile|"
    r"percentile|level|"
    r"significance|tolerance|central|band|coverage target))",
    re.IGNORECASE,
)
_LEVEL_BEFORE = re.compile(
    r"\b(?:(?:nominal|target|desired)\b[^.;,]{0,20}|(?:significance|confidence)\s(?:level\s)?(?:of\s|at\s|"
    r"=\s?)?)$",
    re.IGNORECASE,
)
_TOLERANCE = re.compile(
    r"\b(?:within|to within|up to rounding|tolerance of|equal to)\s(?:about |roughly |only |±\s?)?$",
    re.IGNORECASE,
)
QUOTED = re.compile(
    r"\b(?:paper|authors?|published|publication|readme|literature|original work|et al|documentation|"
    r"prior work|"
    r"previously|reference|leaderboard|they) (?:\w+ ){0,3}?(?:reports?|reported|says?|states?|stated|"
    r"claims?|"
    r"claimed|gives?|gave|finds?|found|lists?|quotes?|shows?|has|value|values|results?|number|figure)\b"
    r"|\b(?:reported|published|stated|quoted|claimed|documented) (?:in|by|there|value|figure|result|number"
    r"|accuracy|score|at)\b|\breported \S{0,12}$|\bas (?:reported|published)\b|\b(?:paper|authors|"
    r"readme)['’]s\b"
    r"|\bin the (?:paper|readme|publication|literature|original)\b"
    r"|\b(?:expected(?!"
    r" (?:calibration|improvement|returns?|values?|rewards?|loss|costs?|risk|regret|log|"
    r"utility|shortfall|number|error|gain|information|delay|waiting)\b)|"
    r"expectation|hypothesi[sz]ed?|predicted by theory|theor(?:y|etical)|task asks|"
    r"task expects"
    r"|target(?: value| of| was| is)|chance level|random guessing|by chance|baseline of chance|nominal)\b",
    re.IGNORECASE,
)
HEDGED = re.compile(
    r"\b(?:would|should|might|could|may|probably|presumably|we (?:expect|hope|plan|guess|suspect|"
    r"anticipate)|i (?:expect|"
    r"hope|plan|guess|suspect)|is (?:expected|likely)|are (?:expected|likely)|future|perhaps|possibly|"
    r"likely to|"
    r"if we (?:had|were)|whether|depends on|in principle|hopefully|tends? to be expected)\b",
    re.IGNORECASE,
)
_TIMES_DONE = re.compile(
    r"\b(?:repeat\w*|re-?ran|ran|run|sampled|drawn|trained|executed|measured)\W[^,.;]{0,20}$", re.I
)
_COMPARED = re.compile(
    r"\s*(?:as|more|less|fewer|faster|slower|higher|lower|larger|smaller|greater|better|worse|the|that|"
    r"its|over|"
    r"longer|shorter|cheaper|below|above|of|\(|,|\.|;|$)",
    re.IGNORECASE,
)
_METRIC_BEFORE = re.compile(
    r"\b(?:accurac(?:y|ies)|f1|auc|auroc|precision|recall|loss|rmse|mae|mse|brier|ece|nll|perplexity|bleu|"
    r"rouge|"
    r"reward|regret|score|coverage|r\^?2|error(?: rate)?|mase|psnr|ssim|iou|success rate|win rate|"
    r"correlation)"
    r"\s*(?:of|is|was|=|:|at|reaches|reached)?\s*(?:about |only |exactly )?$",
    re.IGNORECASE,
)
_DATA = re.compile(
    r"\b(?:data|training|train|test|sample|labell?ed|grid|time|support|query|calibration)[ -]points?\b",
    re.IGNORECASE,
)
_PLACED = re.compile(
    r"\b(?:at|from|with|until|up to|between|beyond|after|on|and|than)\s(?:about |only |some )?$",
    re.IGNORECASE,
)
_CLIMBS = re.compile(
    r"\b(?:climb|ris|rose|rais|fall|fell|drop|grow|grew|increas|decreas|reduc|jump|shrink|shrank)\w*\b",
    re.IGNORECASE,
)
_HAS = re.compile(
    r"\b(?:contains?|contained|has|have|had|counts?|flags?|detects?|yields?)\s(?:only |about )?$"
)
_DONE = re.compile(r"\s\w+\s(?:\([^)]*\)\s)?(?:are|were|is|was|remain|pass|fail|get|got)\b")
"""Behind a count: something is said of so many, *919,717 documents are kept*."""
_SPEEDS = re.compile(r"\b(?:speed|fast|slow|factor|ratio|reduc|sav)", re.IGNORECASE)
"""Before a whole multiple that was measured: *the speed-up grows from 18x to 177x*."""
_SHARE = re.compile(
    r"\s(?:(?:label|random|input|channel|weight)\s)?(?:sparsity|noise|dropout|missing\w*|label(?:s|led)?|compression|"
    r"pruning|corrupt\w*|contamination|mask\w*|utili[sz]ation|load|of the (?:data|labels|training|weights))\b"
)
"""Behind a share that was set: *at 95 % sparsity*."""
_FOR_EACH = re.compile(r"\b(?:for|at|under|across|over)\s(?:the\s)?[a-z]+s\s$")
"""Before a row of numbers that are conditions: *for ratios 0.05 / 0.25 / 1*."""
_MANY, _SOME = 100, 10
_ROUND = 2
"""Digits of a tolerance: of more, what it is was measured."""
SMALL = "too small to tell"
_BEFORE = 70
_CLAUSE = 400
_AFTER = 60


class Prompt:
    """The numbers that a task gives: the settings that everybody has."""

    def __init__(self, task: ResearchTask | None) -> None:
        view = task.prompt_view() if task is not None else None
        self.text = f"{view.question}\n{view.method}\n{view.instructions}" if view else ""
        self._numbers = {round(abs(f.value), 12) for f in figures(self.text)}
        self._numbers |= {float(m) for m in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", self.text)}
        self._steps = {round(abs(f.value), 12): f.step for f in figures(self.text)}
        self._percents = {
            round(abs(f.value), 12) for f in figures(self.text) if f.unit == "percent"
        }

    def has(self, figure: Figure) -> bool:
        """Whether a figure stands in the task, in the same unit."""
        value = round(abs(figure.value), 12)
        if figure.unit == "percent":
            return value in self._percents
        if figure.total is not None or figure.unit in ("times", "points"):
            return False
        return value in self._numbers and figure.step >= 0.1 * self._steps.get(value, 0.0)


def no_claim(conclusion: Conclusion, figure: Figure, passage: Passage, prompt: Prompt) -> str:
    """Why a figure of a conclusion is not something that a run could show; empty when it is."""
    text = conclusion.text
    before = text[max(passage.start, figure.start - _BEFORE) : figure.start]
    after = text[figure.end : min(passage.end, figure.end + _AFTER)]
    if _names_nothing(figure, before, after, passage, text):
        return "a reference"
    shared = figure.unit == "percent" and figure.whole and _SHARE.match(after)
    if shared and re.search(r"\b(?:at|with|under|for|up to)\s$", before, re.IGNORECASE):
        return "a setting"
    crossed = (
        _SPEEDS.search(before) is not None
        and re.search(r"[x×]", text[figure.number_end : figure.end]) is not None
    )
    set_for_all = _FOR_EACH.search(before) is not None and re.match(r"\s?/\s?\d", after) is not None
    if (set_for_all or _is_setting(figure, before, after, crossed)) and not _METRIC_BEFORE.search(
        before
    ):
        return "a setting"
    if figure.unit == "points" and figure.whole and _PLACED.search(before) and _DATA.search(text):
        return "a setting"
    if prompt.has(figure) and not (_METRIC_BEFORE.search(before) and not figure.whole):
        return "stands in the task"
    if (figure.unit == "percent" and _NOMINAL.match(after)) or _LEVEL_BEFORE.search(before):
        return "a nominal level"
    if _TOLERANCE.search(before) and figure.total is None and figure.digits <= _ROUND:
        return "a tolerance"
    if re.search(r"\bp(?:-values?|s)?\s?[<≤]\s?$", before):
        return "a level of significance"
    clause = clause_of(text, figure, passage)
    if QUOTED.search(clause[0]) or re.search(
        r"^\s*(?:\(?as )?(?:reported|in the paper|from the paper)", after
    ):
        return "quoted"
    if HEDGED.search(clause[0]):
        return "not said of this run"
    return SMALL if _is_small(figure, before, after, prompt) else ""


def clause_of(text: str, figure: Figure, passage: Passage) -> tuple[str, int]:
    """The words around a figure up to the nearest commas, semicolons or brackets, and where they begin."""
    start = floor = max(passage.start, figure.start - _CLAUSE)
    for match in re.finditer(
        r"[,;()]\s|\s\(|:\s|\s(?:but|while|whereas)\s", text[floor : figure.start]
    ):
        start = floor + match.end()
    following = re.search(
        r"[,;)]\s|\s\(|[)]\W|\s(?:but|while|whereas)\s",
        text[figure.end : min(passage.end, figure.end + _CLAUSE)],
    )
    end = figure.end + following.start() if following else min(passage.end, figure.end + _CLAUSE)
    return text[start:end], start


def _names_nothing(figure: Figure, before: str, after: str, passage: Passage, text: str) -> bool:
    plain = figure.whole and figure.unit == "" and figure.total is None
    first = len(before.strip()) <= 1
    numbered = plain and re.search(r"\(\s*$", before) is not None and after.startswith(")")
    if numbered and (first or figure.value < 10):
        return first or re.match(r"\)\s+[A-Z]", after) is not None
    if plain and 1900 <= abs(figure.value) <= 2100 and "," not in text[figure.start : figure.end]:
        return not re.search(r"(?:=|of|is|was|to|reach\w*)\s$", before)
    if re.match(r"\s?(?:[*×+^]|x(?=\s\d))\s?[\d(]|\s/\s?\(", after) or re.search(
        r"[\d)]\s?[*×+^x]\s?$", before
    ):
        return True
    if (_VERSION.search(before) and not figure.unit) or re.search(
        r"\b(?:[Ss]ection|[Tt]able|[Ff]igure|[Ee]q\.?|Fig\.)\s$", before
    ):
        return True
    return plain and bool(_REFERENCE.search(before))


def _is_setting(figure: Figure, before: str, after: str, crossed: bool) -> bool:
    if figure.total is not None or figure.error is not None:
        return False
    if figure.unit == "times":
        done = _TIMES_DONE.search(before) is not None
        worded = figure.whole and not crossed and not _COMPARED.match(after)
        return done or worded
    if figure.unit:
        return False
    if re.search(r"\bp(?:-?values?)?\s?[=≈:]\s?$|\bp-values?\s(?:of|is|was)\s$", before):
        return False
    if figure.digits <= 2 and _GIVEN.search(before) and not _METRIC_BEFORE.search(before):
        return True
    if _SINGLE.search(before) and re.search(r"=\s?$", before):
        return figure.whole
    if _AT.search(before) and not _METRIC_BEFORE.search(before):
        return True
    climbs = re.search(r"\bto\s$", before) and _CLIMBS.search(before)
    if _SETTING.search(before) or (figure.whole and _WHOLE_SETTING.search(before) and not climbs):
        return True
    counted = _COUNTED.match(after) or (_UNDER.search(before) and _THINGS.match(after))
    if figure.value >= _MANY and (_HAS.search(before) or _DONE.match(after)):
        return False
    return (
        figure.whole
        and bool(counted)
        and not (_RESULT_COUNT.match(after) or _COSTS.search(before) or _AVERAGED.match(after))
    )


def _is_small(figure: Figure, before: str, after: str, prompt: Prompt) -> bool:
    """Whether a bare whole number says too little: a number of things that are compared, a place."""
    if not figure.whole or figure.unit or figure.total is not None or figure.error is not None:
        return False
    told = _RESULT_COUNT.match(after) or _COSTS.search(before)
    told = told or re.search(r"\bfactors?\s(?:of|is|was)\s(?:about |only |some )?$", before)
    if not told and abs(figure.value) >= _SOME:
        told = _DONE.match(after)
    if abs(figure.value) < _MANY:
        return not told or bool(re.search(r"\b(?:one|at|the|first|last|all|these|top)\s$", before))
    placed = re.search(r"\b(?:at|for|until|after|before|between|from)\s$", before)
    measured = re.match(
        r"\s?(?:[kMGT]i?B|ms|tokens|it/s|Hz|W|J|USD|dollars|words|requests|MFLOPS?|GFLOPS?)\b|\s[a-z]+\sper\s|\s[a-z]+/s\b",
        after,
    )
    changed = re.search(
        r"\b(?:peak|reach|stand|plateau|saturat|level|end|start|settl|reduc|increas|rais|drop|fall|fell|grow|grew|ris|rose|go|went|chang|cut|lower|improv)\w*\b",
        before,
    )
    return bool(placed) and not (told or measured or changed)
