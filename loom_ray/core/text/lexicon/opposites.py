"""Which two words cannot both be true of one thing? Opposite states and relations, by language."""

from __future__ import annotations

from loom_ray.core.text.lexicon import english

_TABLE: dict[str, str] = {
    "en": """on/off enabled/disabled enable/disable allowed/forbidden allowed/prohibited allowed/banned allow/forbid
        allow/prohibit allow/deny permitted/forbidden permitted/prohibited open/closed opens/closes open/shut
        always/never before/after above/below more/less more/fewer higher/lower increase/decrease increased/decreased
        increased/reduced increase/reduce raised/lowered rise/fall rose/fell up/down in/out inside/outside
        start/stop starts/ends started/stopped begin/end first/last early/late earlier/later left/right top/bottom
        minimum/maximum min/max least/most present/absent true/false yes/no success/failure succeeded/failed
        succeed/fail passed/failed pass/fail accepted/rejected accept/reject approve/reject approved/rejected
        approved/denied won/lost win/lose likes/dislikes like/dislike love/hate loves/hates enjoys/dreads enjoy/dread
        enjoy/hate public/private required/optional mandatory/optional must/may must/should alive/dead married/divorced
        married/single employed/unemployed hot/cold warm/cold wet/dry full/empty online/offline connected/disconnected
        active/inactive available/unavailable possible/impossible visible/hidden shown/hidden locked/unlocked
        encrypted/unencrypted installed/uninstalled subscribed/unsubscribed included/excluded include/exclude
        import/export upload/download encode/decode read/write input/output internal/external manual/automatic
        manually/automatically synchronous/asynchronous safe/dangerous safe/unsafe cheap/expensive fast/slow
        quickly/slowly big/small large/small tall/short long/short heavy/light light/dark new/old young/old rich/poor
        strong/weak easy/difficult easy/hard same/different all/none all/some every/no everyone/nobody
        everything/nothing
        with/without vegetarian/carnivore indoor/outdoor indoors/outdoors day/night morning/evening
        buy/sell bought/sold lend/borrow arrive/depart arrives/departs arrival/departure push/pull ascend/descend
        climb/descend standing/sitting asleep/awake happy/sad healthy/sick gain/lose gained/lost add/remove
        added/removed hire/fire hired/fired join/leave joined/left keep/drop kept/dropped into/out towards/away
        toward/away""",
    "de": """an/aus ein/aus eingeschaltet/ausgeschaltet aktiviert/deaktiviert erlaubt/verboten offen/geschlossen
        geöffnet/geschlossen öffnet/schließt immer/nie vor/nach über/unter mehr/weniger höher/niedriger links/rechts
        oben/unten mit/ohne wahr/falsch heiß/kalt warm/kalt voll/leer neu/alt groß/klein lang/kurz schnell/langsam
        früh/spät erste/letzte innen/außen drinnen/draußen gestiegen/gesunken steigt/sinkt verfügbar/ausverkauft
        mag/hasst liebt/hasst gewonnen/verloren angenommen/abgelehnt öffentlich/privat intern/extern""",
    "fr": """activé/désactivé allumé/éteint autorisé/interdit ouvert/fermé ouverte/fermée ouvre/ferme toujours/jamais
        avant/après plus/moins gauche/droite haut/bas avec/sans vrai/faux chaud/froid plein/vide nouveau/ancien
        grand/petit long/court rapide/lent premier/dernier accepté/refusé gagné/perdu aime/déteste public/privé
        augmenté/diminué interne/externe présent/absent""",
    "es": """activado/desactivado encendido/apagado permitido/prohibido abierto/cerrado abierta/cerrada abre/cierra
        siempre/nunca antes/después más/menos izquierda/derecha arriba/abajo con/sin verdadero/falso caliente/frío
        lleno/vacío nuevo/viejo grande/pequeño largo/corto rápido/lento primero/último aceptado/rechazado
        ganado/perdido
        ama/odia público/privado interno/externo dentro/fuera""",
    "it": """attivato/disattivato acceso/spento permesso/vietato aperto/chiuso aperta/chiusa apre/chiude sempre/mai
        prima/dopo più/meno sinistra/destra sopra/sotto con/senza vero/falso caldo/freddo pieno/vuoto nuovo/vecchio
        grande/piccolo lungo/corto veloce/lento primo/ultimo accettato/rifiutato ama/odia pubblico/privato
        dentro/fuori""",
    "pt": """ativado/desativado ligado/desligado permitido/proibido aberto/fechado aberta/fechada abre/fecha
        sempre/nunca
        antes/depois mais/menos esquerda/direita acima/abaixo com/sem verdadeiro/falso quente/frio cheio/vazio
        novo/velho
        grande/pequeno longo/curto rápido/lento primeiro/último aceito/rejeitado ama/odeia público/privado
        dentro/fora""",
    "nl": """aan/uit ingeschakeld/uitgeschakeld toegestaan/verboten open/dicht open/gesloten opent/sluit altijd/nooit
        voor/na meer/minder links/rechts boven/onder met/zonder waar/onwaar warm/koud vol/leeg nieuw/oud groot/klein
        lang/kort snel/langzaam eerste/laatste binnen/buiten""",
    "pl": """włączony/wyłączony włączone/wyłączone włączona/wyłączona dozwolone/zabronione otwarty/zamknięty
        otwarte/zamknięte otwarta/zamknięta zawsze/nigdy przed/po więcej/mniej lewo/prawo z/bez prawda/fałsz
        gorący/zimny pełny/pusty nowy/stary duży/mały długi/krótki szybki/wolny pierwszy/ostatni""",
    "ru": """включен/выключен включён/выключен включена/выключена включено/выключено разрешено/запрещено
        разрешён/запрещён открыт/закрыт открыта/закрыта открыто/закрыто открывается/закрывается всегда/никогда до/после
        больше/меньше выше/ниже слева/справа с/без верно/неверно горячий/холодный полный/пустой новый/старый
        большой/маленький длинный/короткий быстро/медленно первый/последний любит/ненавидит внутри/снаружи""",
    "ar": """مفتوح/مغلق مفتوحة/مغلقة يفتح/يغلق مسموح/ممنوع دائما/أبدا قبل/بعد أكثر/أقل مع/بدون مفعل/معطل كبير/صغير
        جديد/قديم ساخن/بارد داخل/خارج""",
    "zh": """开/关 开启/关闭 打开/关闭 启用/禁用 允许/禁止 总是/从不 前/后 上/下 左/右 大/小 多/少 高/低
        增加/减少 新/旧 冷/热 早/晚 内/外 买/卖 成功/失败""",
    "ja": """オン/オフ 有効/無効 許可/禁止 開/閉 前/後 上/下 左/右 大/小 多/少 高/低 増加/減少 新/旧 内/外
        成功/失敗 賛成/反対 公開/非公開""",
    "ko": """켜/꺼 열/닫 허용/금지 활성화/비활성화 항상/절대 전/후 위/아래 성공/실패 증가/감소 찬성/반대
        공개/비공개 가능/불가능""",
    "th": "เปิด/ปิด อนุญาต/ห้าม ก่อน/หลัง มาก/น้อย ซ้าย/ขวา",
}


def _pairs(language: str) -> frozenset[tuple[str, str]]:
    pairs = {(first, second) for entry in _TABLE[language].split() for first, second in [entry.split("/")]}
    if language == "en":
        pairs |= set(english.OPPOSITES)
    return frozenset(pairs | {(second, first) for first, second in pairs})


OPPOSITES: dict[str, frozenset[tuple[str, str]]] = {language: _pairs(language) for language in _TABLE}
"""Pairs in both orders, folded, as written (not stemmed)."""

NEGATING_PREFIXES = {
    "en": ("un", "non", "in", "im", "dis", "ir", "il"),
    "de": ("un", "nicht"),
    "fr": ("in", "im", "non", "dé"),
    "es": ("in", "im", "des", "no"),
    "it": ("in", "im", "dis", "s", "non"),
    "pt": ("in", "im", "des", "não"),
    "nl": ("on", "niet"),
    "pl": ("nie",),
    "ru": ("не", "без"),
}
"""Prefixes that turn a word of five letters or more into its opposite."""
