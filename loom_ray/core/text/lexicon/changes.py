"""Which words tell of a change? Cues that a statement replaces an earlier one, by language."""

from __future__ import annotations

CHANGES: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": """now no-longer instead anymore changed change changes moved move moves switched switch increased
            increase decreased decrease reduced extended extend shortened adjusted updated update revised rescheduled
            postponed
            replaced raised lowered dropped grew grown rose risen fell climbed improved renamed became becomes
            relocated migrated upgraded downgraded currently recently expanded boosted corrected already further
            delayed advanced
            canceled cancelled pivoted promoted""",
        "de": """jetzt nun inzwischen mittlerweile nicht-mehr stattdessen geändert verschoben gewechselt erhöht gesenkt
            verlängert verkürzt angepasst aktualisiert ersetzt umgezogen""",
        "fr": "maintenant désormais plutôt changé déplacé passé augmenté réduit prolongé reporté remplacé déménagé",
        "es": """ahora ya cambiado cambió movido aumentó aumentado reducido redujo aplazado reemplazado mudado
            actualmente""",
        "it": "ora adesso ormai invece cambiato spostato aumentato ridotto prolungato rinviato sostituito trasferito",
        "pt": "agora já mudou mudado aumentou aumentado reduzido adiado substituído atualmente",
        "nl": "nu inmiddels voortaan gewijzigd verplaatst verhoogd verlaagd verlengd uitgesteld vervangen verhuisd",
        "pl": "teraz obecnie zmieniono przeniesiono zwiększono zmniejszono przedłużono przełożono zastąpiono",
        "ru": "теперь сейчас уже изменён изменено перенесён перенесено увеличено увеличен уменьшено продлено заменён",
    }.items()
}

UNSPACED_CHANGES: dict[str, tuple[str, ...]] = {
    "zh": ("现在", "改为", "改成", "不再", "已经", "变成", "搬到", "推迟", "提前", "调整"),
    "ja": ("今は", "現在", "変更", "になった", "になりました", "もう", "移動", "延期"),
    "ko": ("이제", "현재", "변경", "바뀌", "더 이상", "이동", "연기"),
    "th": ("ตอนนี้", "เปลี่ยน", "ย้าย", "เลื่อน", "ไม่อีก"),
}
