"""Which word opens what is said of the subject? Copulas, auxiliaries and frequent verbs of lasting facts, by
language."""

from __future__ import annotations

COPULAS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "is are am was were be been being becomes became remains isn't aren't wasn't weren't isnt arent 's",
        "de": "ist sind war waren bin bist wird werden wurde wurden bleibt heißt lautet beträgt",
        "fr": "est sont était étaient suis sera reste devient s'appelle",
        "es": "es son era eran fue soy está están estaba será queda se",
        "it": "è sono era erano fu sarà sta resta",
        "pt": "é são era eram foi sou está estão estava será fica",
        "nl": "is zijn was waren ben wordt worden blijft heet",
        "pl": "jest są był była było byli będzie to nazywa",
        "ru": "это является являются был была было были будет",
        "sv": "är var blir heter",
        "da": "er var bliver hedder",
        "ar": "هو هي كان كانت يكون تكون",
        "zh": "是 为 為 在 有",
        "ja": "は が",
        "ko": "",
        "th": "คือ เป็น",
    }.items()
}

VERBS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "de": """hat haben hatte hatten kann können muss müssen soll sollen darf dürfen will wollen mag mögen wohnt
            lebt
            arbeitet leitet beginnt endet startet öffnet schließt kostet dauert fährt kommt geht liegt steht hält läuft
            nutzt benutzt verwendet braucht benötigt besitzt gehört bevorzugt trägt heißt findet gibt gilt spielt isst
            trinkt spricht lernt studiert führt bietet enthält umfasst verlässt erreicht verdient bezahlt kauft
            liefert starb heiratete studierte arbeitete lebte wohnte zog gründete""",
        "fr": """a ont avait avaient peut peuvent doit doivent habite vit travaille dirige commence finit démarre
            ouvre ferme
            coûte dure part arrive va vient tient utilise emploie possède préfère porte joue mange boit parle étudie
            naquit mourut étudia travailla épousa fonda contient compte gagne paie livre aime déteste""",
        "es": """ha han tiene tienen tenía puede pueden debe deben vive trabaja dirige empieza comienza termina abre
            cierra
            cuesta dura sale llega va viene usa utiliza posee prefiere lleva juega come bebe habla estudia contiene
            gana
            paga entrega gusta odia necesita nació murió vivió estudió trabajó fundó""",
        "it": """ha hanno aveva può possono deve devono vive abita lavora dirige inizia comincia finisce apre chiude
            costa dura
            parte arriva va viene usa utilizza possiede preferisce porta gioca mangia beve parla studia contiene
            guadagna
            paga consegna piace odia nacque morì visse studiò lavorò sposò fondò""",
        "pt": """tem têm tinha pode podem deve devem vive mora trabalha dirige começa termina abre fecha custa dura
            sai chega
            vai vem usa utiliza possui prefere leva joga come bebe fala estuda contém ganha paga entrega gosta odeia
            precisa nasceu morreu viveu estudou trabalhou casou fundou""",
        "nl": """heeft hebben had kan kunnen moet moeten mag mogen woont leeft werkt leidt begint eindigt start opent
            sluit
            kost duurt rijdt vertrekt komt gaat ligt staat gebruikt bezit verkiest draagt speelt eet drinkt spreekt
            stierf trouwde studeerde werkte woonde verhuisde studeert bevat verdient betaalt levert houdt""",
        "pl": """ma mają miał miała może mogą musi muszą mieszka żyje pracuje kieruje zaczyna kończy otwiera zamyka
            kosztuje
            trwa odjeżdża przyjeżdża używa posiada woli nosi gra je pije mówi studiuje zawiera zarabia płaci dostarcza
            lubi urodził urodziła zmarł zmarła studiował studiowała pracował pracowała mieszkał mieszkała""",
        "ru": """имеет имеют может могут должен должна должны живёт живет работает руководит начинается заканчивается
            открывается закрывается стоит длится отправляется прибывает использует владеет предпочитает носит играет
            ест родился родилась умер умерла учился училась работал работала жил жила переехал переехала
            пьёт пьет говорит учится содержит зарабатывает платит действует находится любит""",
        "sv": """har hade kan måste ska bor lever arbetar leder börjar slutar öppnar stänger kostar använder
            äger föredrar""",
        "da": """har havde kan må skal bor lever arbejder leder begynder slutter åbner lukker koster bruger ejer
            foretrækker""",
        "ar": "يعيش يعمل يدير يبدأ ينتهي يفتح يغلق يكلف يستخدم يملك يفضل يقع",
    }.items()
}
"""Finite forms as written, folded. English is told by its verb list and endings instead (see `predicate`)."""

ENGLISH_AUXILIARIES = frozenset(
    """has have had can could may might must shall should will would do does did cannot can't won't don't
    doesn't didn't hasn't haven't never always""".split()
)

MULTI_VALUED = frozenset(
    """like likes liked love loves enjoy enjoys dislike dislikes hate hates avoid avoids know knows speak speaks visit
    visits visited read reads watch watches own owns has have include includes contain contains support supports offer
    offers sell sells collect collects mag mögen liebt hasst kennt spricht besitzt hat haben enthält bietet
    aime aiment adore déteste connaît parle possède a ont contient gusta gustan odia conoce habla tiene tienen contiene
    ama piace odia conosce parla possiede ha hanno gosta odeia conhece fala tem têm houdt kent spreekt heeft hebben
    lubi zna mówi ma mają любит знает говорит имеет""".split()
)
"""Relations that one subject may have to many things: who likes cats may like dogs as well."""

HAVING = frozenset("has have hat haben a ont tiene tienen ha hanno tem têm heeft hebben ma mają имеет".split())
"""Those among them that are also auxiliaries: they count only where the predicate begins with them."""

ASKING = frozenset(
    "who what when where which how whose why wer was wann wo wie qui quand où quién cuándo chi quando wie".split()
)
"""A label that asks has one answer."""
