"""Which words name months, weekdays and parts of the day? By language, as written and as inflected."""

from __future__ import annotations


def _numbered(lists: dict[str, str], first: int) -> dict[str, dict[str, int]]:
    """`word|word …` entries in calendar order, counted from `first`."""
    return {
        language: {word: first + place for place, entry in enumerate(entries.split()) for word in entry.split("|")}
        for language, entries in lists.items()
    }


MONTHS: dict[str, dict[str, int]] = _numbered(
    {
        "en": """january|jan february|feb march|mar april|apr may june|jun july|jul august|aug september|sep|sept
            october|oct november|nov december|dec""",
        "de": """januar|jänner februar märz april mai juni juli august september oktober november dezember""",
        "fr": """janvier février|fevrier mars avril mai juin juillet août|aout septembre octobre novembre
            décembre|decembre""",
        "es": "enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre noviembre diciembre",
        "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "nl": "januari februari maart april mei juni juli augustus september oktober november december",
        "pl": """stycznia|styczeń|styczniu lutego|luty|lutym marca|marzec|marcu kwietnia|kwiecień|kwietniu
            maja|maj|maju
            czerwca|czerwiec|czerwcu lipca|lipiec|lipcu sierpnia|sierpień|sierpniu września|wrzesień|wrześniu
            października|październik|październiku listopada|listopad|listopadzie grudnia|grudzień|grudniu""",
        "ru": """января|январь|январе февраля|февраль|феврале марта|март|марте апреля|апрель|апреле мая|май|мае
            июня|июнь|июне июля|июль|июле августа|август|августе сентября|сентябрь|сентябре октября|октябрь|октябре
            ноября|ноябрь|ноябре декабря|декабрь|декабре""",
        "sv": "januari februari mars april maj juni juli augusti september oktober november december",
        "da": "januar februar marts|mars april maj|mai juni juli august september oktober november december|desember",
        "ar": "يناير فبراير مارس أبريل|ابريل مايو يونيو يوليو أغسطس|اغسطس سبتمبر أكتوبر|اكتوبر نوفمبر ديسمبر",
    },
    1,
)
"""Month numbers from 1."""

AMBIGUOUS_MONTHS = frozenset("""may march mar jan jun dec sep sept mars mai maj май марта мая mei august""".split())
"""Month words that are also something else: they count only beside a number or after a word of time."""

TIME_PREPOSITIONS = frozenset(
    """in by until till since of from to every last next before after during early late mid im bis seit ab
    vor nach en jusqu depuis à desde hasta a da fino em até tot sinds w od do в с до к по""".split()
)

WEEKDAYS: dict[str, dict[str, int]] = _numbered(
    {
        "en": """monday|mondays|mon tuesday|tuesdays|tue|tues wednesday|wednesdays thursday|thursdays|thu|thur|thurs
            friday|fridays|fri saturday|saturdays sunday|sundays""",
        "de": """montag|montags dienstag|dienstags mittwoch|mittwochs donnerstag|donnerstags freitag|freitags
            samstag|samstags|sonnabend|sonnabends sonntag|sonntags""",
        "fr": """lundi|lundis mardi|mardis mercredi|mercredis jeudi|jeudis vendredi|vendredis samedi|samedis
            dimanche|dimanches""",
        "es": "lunes martes miércoles|miercoles jueves viernes sábado|sábados|sabado domingo|domingos",
        "it": "lunedì martedì mercoledì giovedì venerdì sabato domenica",
        "pt": """segunda-feira|segundas-feiras terça-feira quarta-feira quinta-feira sexta-feira sábado|sábados
            domingo|domingos""",
        "nl": "maandag|maandags dinsdag|dinsdags woensdag donderdag|donderdags vrijdag zaterdag zondag",
        "pl": """poniedziałek|poniedziałki|poniedziałku wtorek|wtorki|wtorku środa|środę|środy|środo|środzie
            czwartek|czwartki|czwartku piątek|piątki|piątku sobota|sobotę|soboty
            niedziela|niedzielę|niedziele|niedzieli""",
        "ru": """понедельник|понедельника|понедельникам вторник|вторника|вторникам среда|среду|среды|средам
            четверг|четверга|четвергам пятница|пятницу|пятницы|пятницам суббота|субботу|субботы|субботам
            воскресенье|воскресенья|воскресеньям""",
        "sv": """måndag|måndagar tisdag|tisdagar onsdag|onsdagar torsdag|torsdagar fredag|fredagar lördag|lördagar
            söndag|söndagar""",
        "da": """mandag|mandage tirsdag|tirsdage onsdag|onsdage torsdag|torsdage fredag|fredage lørdag|lørdage
            søndag|søndage""",
        "ar": "الاثنين|الإثنين|الأثنين الثلاثاء الأربعاء|الاربعاء الخميس الجمعة السبت الأحد|الاحد",
    },
    0,
)
"""Weekday numbers, Monday 0."""

CAPITALISED = frozenset[str]().union(*(table[language] for table in (MONTHS, WEEKDAYS) for language in ("en", "de")))
"""Those that are written with a capital and still are words of their language, no names."""

UNSPACED_WEEKDAY = (
    "(?:周|星期|礼拜|週|禮拜)[一二三四五六日天]|[月火水木金土日]曜日?|[월화수목금토일]요일"
    "|วัน(?:จันทร์|อังคาร|พุธ|พฤหัสบดี|พฤหัส|ศุกร์|เสาร์|อาทิตย์)"
)
"""Weekdays of Chinese, Japanese, Korean and Thai, as a pattern; `UNSPACED_WEEKDAY_NUMBERS` gives their number."""

UNSPACED_WEEKDAY_NUMBERS = {
    day: number
    for days in ("一二三四五六日", "月火水木金土日", "월화수목금토일")
    for number, day in enumerate(days)
} | {
    "天": 6, "จันทร์": 0, "อังคาร": 1, "พุธ": 2, "พฤหัสบดี": 3, "พฤหัส": 3, "ศุกร์": 4, "เสาร์": 5, "อาทิตย์": 6,
}  # fmt: skip

AFTER_NOON = frozenset(["pm", "p.m.", "p.m", "下午", "晚上", "午後", "오후", "夜"])
BEFORE_NOON = frozenset(["am", "a.m.", "a.m", "上午", "早上", "午前", "오전", "凌晨"])
CLOCK_WORDS = frozenset("uhr o'clock oclock heures heure ore horas uur godz".split())
"""Words after a bare number that make it an hour of the day."""
