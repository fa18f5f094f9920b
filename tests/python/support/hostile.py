"""Hostile strings by category: what breaks parsers, queries, logs and terminals, made for these tests.

`TEXTS` holds them by a printable name. Each is any Python text, so lone surrogates are among them: as JSON
they are escapes.
"""

from __future__ import annotations

import unicodedata

# A stored string, which must differ from all that look like it.
KNOWN = "demo-customer-0001"

CATEGORIES = {
    "sql": [
        "'", "' OR '1'='1", "' OR 1=1 --", "1; DROP TABLE item_0", "') UNION SELECT sql FROM sqlite_master --", "/*",
        "--", "%", "_", "?", ":a", "$a", "NULL", "x'41'",
    ],
    "quotes": [
        '"', '"""', "`", "``", "\\", "\\\\", '\\"', "\u201c\u201d", "\u2018\u2019", "\u00ab\u00bb", "<>", "[]", "()",
    ],
    "controls": [
        "\x00", "a\x00b", "\x01", "\x07", "\x08", "\t", "\n", "\r", "\r\n", "\x0b", "\x0c", "\x1a", "\x1b", "\x7f",
        "\x85", "\x9b",
    ],
    "ansi": [
        "\x1b[31mred", "\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]8;;http://example.com\x07x\x1b]8;;\x07", "\x9b31m",
    ],
    "breaks": [
        "a\nb", "a\r\nSet-Cookie: a=b", "a\r\n\r\n{}", "a\u2028b", "a\u2029b", "a\u0085b",
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
    ],
    "bidi": [
        "\u202eabc", "\u202d", "\u2066a\u2069", "\u200e\u200f", "\u061c", "admin\u202egpj.exe",
        "\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627",
    ],
    "invisible": [
        "\u200b", "\u200c\u200d", "\u2060", "\ufeff", "\ufeffa", "\u00ad", "\u180e", "\u3164", "\U000e0041", "\ufe0f",
    ],
    "spaces": [
        " ", "  ", "\u00a0", "\u1680", "\u2003", "\u202f", "\u205f", "\u3000", f" {KNOWN}", f"{KNOWN} ", f"{KNOWN}\n",
    ],
    "unicode": [
        "ÅÄÖ", "\ufb01", "ß", "\u0130", "\u0131", "\u017f", "\u212a", "\u212b", "e\u0301", "한글", "夏のセール", "Tết",
        "ไทย", "हिन्दी", "🎁", "\U0001f469\u200d\U0001f467", "🇻🇳", "Z\u0338\u0351a\u0334l\u0337", "\u0301", "\ufffd",
        "\ufffe", "\uffff", "\ue000", "\U0010ffff", "\U0001d54f", "①", "½", "\u0663", "Ⅷ",
    ],
    "lookalikes": [
        KNOWN.upper(), KNOWN.replace("-", "\u2010"), KNOWN.replace("e", "\u0435"), KNOWN.replace("0", "O"),
        "".join(chr(ord(character) + 0xFEE0) for character in KNOWN), KNOWN[:-1], f"{KNOWN[:-1]}_", f"{KNOWN}%",
        f"{KNOWN}\x00",
    ],
    "surrogates": ["\ud800", "\udfff", "\udc00\ud800", "a\ud83d", "\ud83dz", "\udcff"],
    "numbers": [
        "0", "-0", "1", "01", "1.0", "1e3", "1e400", "-1", "+1", "0x41", "0b1", "0o7", "1_000", "1,000", "NaN", "nan",
        "Infinity", "-Infinity", "inf", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "18446744073709551616", "0.1", ".5", "5.", "1/0", "\uff11", "-1003",
    ],
    "words": [
        "true", "false", "null", "None", "undefined", "nil", "NaN()", "[object Object]", "__proto__", "constructor",
        "toString", "self",
    ],
    "json": [
        '{"a":1}', '["a"]', '"a"', "{", "}", "[", "]", '","operator":"x', "\\u0000", "\\ud800", '{"OR":[]}', "//",
        "/* */",
    ],
    "formats": [
        "%s", "%n%n%n", "%x%x%x%x", "{0}", "{}", "{self.__class__}", "${7*7}", "{{7*7}}", "#{7*7}", "<%= 7*7 %>",
        "$(id)", "`id`", "%00", "%0d%0a", "\\x41",
    ],
    "paths": [
        "../", "../../etc/passwd", "..\\..\\windows", "/etc/passwd", "file:///etc/passwd", "C:\\", "CON", "~", ".",
        "..", "%2e%2e%2f", "//evil.example.com/",
    ],
    "markup": [
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&lt;", "&#0;", "<!--", "]]>", "<!DOCTYPE a>",
        "javascript:alert(1)",
    ],
    "formulas": ["=1+1", "@SUM(A1)", "=cmd|' /C calc'!A0"],
    "dates": [
        "2024-02-30", "0000-00-00", "2024-01-01 00:00:00", "2024-01-01T24:00:00Z", "9999-12-31 23:59:60", "tomorrow",
    ],
    "long": [
        "a" * 255, "a" * 256, "a" * 65_536, "'" * 10_000, "\x00" * 1_000, "🎁" * 20_000, "e\u0301" * 10_000,
        "(" * 50_000, "\\" * 10_000, "\u202e" * 1_000,
    ],
    "empty": [""],
}  # fmt: skip
TEXTS = {f"{name}-{number}": text for name, texts in CATEGORIES.items() for number, text in enumerate(texts)}

# How many consecutive tests share the strings.
SHARES = 4


def texts_of(turn: int) -> dict[str, str]:
    """A share of `TEXTS` with some of each category; each run of `SHARES` turns has all."""
    return {
        f"{name}-{number}": text
        for name, texts in CATEGORIES.items()
        for number, text in enumerate(texts)
        if (number - turn) % min(SHARES, len(texts)) == 0
    }


def is_one_harmless_line(message: str) -> bool:
    """Whether a string has no line breaks, terminal escapes, direction marks or invisible characters."""
    return not any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in message)
