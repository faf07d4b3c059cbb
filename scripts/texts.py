"""What the generated parts of pages say, in both languages."""

from __future__ import annotations

Text = dict[str, str]


class MissingText(LookupError):
    """A text that one of the languages lacks."""


def in_language(text: Text | str, language: str, what: str) -> str:
    """The text in a language; a plain string serves both. `what` names it in the error."""
    if isinstance(text, str):
        return text
    if not isinstance(text, dict) or not text.get(language):
        raise MissingText(f"{what} has no text in {language!r}")
    return text[language]


TEXTS: dict[str, Text] = {
    "time": {"en": "time per call", "zh": "单次调用耗时"},
    "memory": {"en": "peak memory of one call", "zh": "单次调用的峰值内存"},
    "between name and value": {"en": ": ", "zh": "："},
    "figures": {
        "en": "The figures: median, quartiles, speed against {baseline}",
        "zh": "具体数字：中位数、四分位数，以及速度是 {baseline} 的几倍",
    },
    "figures of memory": {
        "en": "The figures: peak memory, and how many times less than {baseline}",
        "zh": "具体数字：峰值内存，以及 {baseline} 是它的几倍",
    },
    "baseline": {"en": "baseline", "zh": "基线"},
    "chart": {
        "en": "Chart: {title}. The table below holds the same figures.",
        "zh": "图：{title}。下方表格为同一组数据。",
    },
    "unsteady": {
        "en": "≈ marks a size at which the rounds scattered by more than 15%.",
        "zh": "≈ 表示该规模下各轮结果的离散程度超过 15%。",
    },
    "not measured": {"en": "not measured", "zh": "未测"},
    "too slow": {
        "en": "left out as too slow: at {size} one call already took {time}",
        "zh": "过慢，未测：规模为 {size} 时单次调用已需 {time}",
    },
    "needs a GPU": {"en": "needs a GPU", "zh": "需要 GPU"},
    "cpu with cores": {"en": "{cpu}, {cores} cores", "zh": "{cpu}，{cores} 核"},
    "threads": {"en": "{threads} of {cores} cores", "zh": "使用 {cores} 核中的 {threads} 核"},
    "record": {"en": "raw record", "zh": "原始记录"},
    "benchmark": {"en": "benchmark code", "zh": "基准测试代码"},
    "measured on": {"en": "measured {date}", "zh": "测于 {date}"},
    "no record": {"en": "Not measured on a {device} yet.", "zh": "尚无 {device} 上的测量记录。"},
    "claim": {"en": "What the notes claim", "zh": "原笔记给出的数字"},
    "claim without figure": {"en": "What the notes claim", "zh": "原笔记的说法"},
    "claimed": {"en": "Claim", "zh": "说法"},
    "setting": {"en": "Setting", "zh": "条件"},
    "machine": {"en": "Machine", "zh": "机器"},
    "measured": {"en": "Measured here", "zh": "本站实测"},
    "verdict": {"en": "Verdict", "zh": "结论"},
    "quartiles": {"en": "quartiles", "zh": "四分位区间"},
    "times": {"en": "×", "zh": " 倍"},
    "holds": {"en": "holds", "zh": "成立"},
    "smaller": {"en": "smaller than claimed", "zh": "比所说的小"},
    "larger": {"en": "larger than claimed", "zh": "比所说的大"},
    "does not hold": {"en": "does not hold here", "zh": "在该机器上不成立"},
    "file": {"en": "File", "zh": "文件"},
    "what it does": {"en": "What it does", "zh": "用途"},
    "what it needs": {"en": "Needs", "zh": "依赖"},
    "speed": {"en": "Speed", "zh": "速度"},
    "speed sentence": {
        "en": "{fast}: {ratio}× as fast as {slow}",
        "zh": "{fast}：速度是 {slow} 的 {ratio} 倍",
    },
    "yes": {"en": "yes", "zh": "是"},
    "no": {"en": "no", "zh": "否"},
    "download": {"en": "Download {file}", "zh": "下载 {file}"},
    "scrollable table": {"en": "Table, scrolls sideways", "zh": "可横向滚动的表格"},
}


def say(key: str, language: str, **values: object) -> str:
    """A text of TEXTS with its fields filled in."""
    return TEXTS[key][language].format(**values)
