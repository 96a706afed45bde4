"""Which words deny? Negators and denials by language, and the compounds that only look like one."""

from __future__ import annotations

import re

NEGATORS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": """not no never none nobody nothing nowhere neither nor without cannot cant dont doesnt didnt isnt arent
            wasnt werent wont wouldnt shouldnt couldnt hasnt havent hadnt mustnt neednt aint lacks lack lacking""",
        "de": "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand nirgends weder ohne keinerlei",
        "fr": "pas jamais rien aucun aucune personne nulle ni sans guère non",
        "es": "no nunca jamás nada nadie ningún ninguna ninguno ni sin tampoco",
        "it": "non no mai niente nulla nessun nessuno nessuna né senza neanche",
        "pt": "não nunca jamais nada ninguém nenhum nenhuma nem sem",
        "nl": "niet geen nooit niets niemand nergens noch zonder",
        "pl": "nie nigdy nic nikt nigdzie żaden żadna żadne ani bez brak nikogo niczego",
        "ru": "не нет никогда ничего ничто никто нигде ни без нельзя никакой никаких никого отсутствует",
        "ar": "لا لم لن ليس ليست ليسوا ما غير بدون بلا دون",
        "sv": "inte ej aldrig ingen inget inga utan",
        "da": "ikke ikkje aldrig aldri ingen intet uden uten",
        "cs": "ne není nejsou nikdy nic nikdo bez žádný žádná",
        "uk": "не нема немає ніколи ніщо нічого ніхто ні без",
        "tr": "değil yok asla hiç",
        "hi": "नहीं न मत ना",
        "el": "δεν δε μην όχι ποτέ χωρίς",
        "he": "לא אין אינו אינה בלי",
        "fa": "نه نیست نیستند بدون هرگز",
        "vi": "không chưa chẳng đừng",
        "id": "tidak bukan belum jangan tanpa",
    }.items()
}
"""Words that deny what they stand beside, folded, apostrophes dropped (don't → dont)."""

NEVER = frozenset(
    """never nie niemals jamais nunca mai jamás nooit nigdy никогда aldrig aldri nikdy ніколи asla ποτέ""".split()
)
"""Negators of all time: one event of the kind contradicts them, whatever its details."""

FALSE_NEGATIONS: dict[str, tuple[str, ...]] = {
    "en": ("not only", "no longer than", "no later than", "no more than", "no less than", "no. ", "nothing but"),
    "de": ("nicht nur",),
    "fr": ("non seulement", "pas seulement"),
    "es": ("no solo", "no sólo"),
    "it": ("non solo",),
    "pt": ("não só", "não apenas"),
    "nl": ("niet alleen",),
    "pl": ("nie tylko",),
    "ru": ("не только",),
}
"""Phrases whose negator denies nothing."""

UNSPACED_NEGATIONS: dict[str, re.Pattern[str]] = {
    "zh": re.compile(
        r"(?:不(?!过|過|错|錯|仅|僅|但|同|断|斷|久|少|论|論|管|得不|如|止|光|单)"
        r"|没(?!关系)|沒(?!關係)|未(?!来|來|婚|必)"
        r"|无(?!论|线|锡)|無(?!論|線)|并非|非(?!常|洲|凡)|勿|禁止|别(?!的|人|墅|针))"
    ),
    "ja": re.compile(
        r"(?:ません|なかった|(?<!少)(?<!危)(?<!かもしれ)(?<!なければなら)(?<!なくてはなら)ない"
        r"|ずに|ぬ(?=[。、]|$)|不可|未(?=[一-鿿])"
        r"|無(?:し|効)|なし(?=[でのにと。、]|$)|禁止)"
    ),
    "ko": re.compile(r"(?:않|(?<![가-힣])안(?=\s)|(?<![가-힣])못|없|아니|말아|마세요|마십시오|불가)"),
    "th": re.compile(r"(?:ไม่(?!ว่า|เพียง)|มิได้|มิใช่|ห้าม|ไร้|อย่า(?!ง)|ปราศจาก)"),
}
"""Negation in scripts that do not set words apart; the look-aheads keep out compounds that deny nothing."""
