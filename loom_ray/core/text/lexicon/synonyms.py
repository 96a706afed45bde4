"""Which words say the same? Groups of interchangeable words, by language; English from WordNet as well."""

from __future__ import annotations

from loom_ray.core.text.lexicon import english

_GROUPS: dict[str, str] = {
    "en": """someone somebody person / everyone everybody / nobody none / kid child / kids children / car automobile
        auto /
        bike bicycle / photo photograph picture / phone telephone / tv television / big large / little small tiny /
        begin start commence / end finish / stop halt cease / buy purchase / fast quick / quickly fast rapidly /
        talk speak chat / say tell state / shut close / fix repair / help assist / need require / want wish / use
        utilize /
        show display / near beside by / jump leap / run jog / cut slice chop / look stare gaze watch / perform play /
        cook prepare / ride riding / couch sofa / sidewalk pavement / road street / hill hillside / forest woods wood /
        ocean sea / boat ship / rock stone / snow snowy / grass grassy / group bunch / woman lady / man guy gentleman /
        boy lad / baby infant / dad father / mum mom mother / doctor physician / lawyer attorney / film movie /
        shop store / flat apartment / lift elevator / holiday vacation / company firm / job post position / boss
        manager /
        meeting appointment / price cost / pay salary wage / town city / home house / us usa america american / uk
        britain
        british / eu european / reportedly allegedly / sunglasses glasses / laptop notebook / repo repository /
        db database / config configuration / docs documentation / app application / prod production / dev development /
        env environment / k8s kubernetes / postgres postgresql / js javascript / ts typescript / py python / id
        identifier /
        info information / admin administrator / max maximum / min minimum / spec specification / auth authentication /
        favourite favorite / colour color / centre center / organise organize / grey gray / licence license /
        programme program / metre meter / cancelled canceled / travelling traveling / behaviour behavior / tyre
        tire""",
    "de": """auto wagen pkw / aufzug lift fahrstuhl / kind kinder / schnell rasch / beginnen anfangen starten / kaufen
        erwerben / samstag sonnabend / handy mobiltelefon smartphone / chef leiter / mann herr / frau dame / foto bild
        /
        groß riesig / klein winzig / sprechen reden / büro office / firma unternehmen / straße weg""",
    "fr": """voiture auto automobile / enfant gamin / vélo bicyclette / commencer débuter / acheter acquérir / femme
        dame /
        homme monsieur / photo image / parler discuter / entreprise société / rapide vite""",
    "es": """coche auto carro automóvil / niño chico crío / bicicleta bici / empezar comenzar iniciar / comprar
        adquirir /
        mujer dama señora / hombre señor / foto fotografía imagen / hablar conversar / empresa compañía / ordenador
        computadora / móvil celular""",
    "it": """macchina auto automobile / bambino bimbo / bici bicicletta / iniziare cominciare / comprare acquistare /
        donna signora / uomo signore / foto fotografia / parlare discutere / azienda ditta società""",
    "pt": """carro automóvel / criança menino / bicicleta bici / começar iniciar / comprar adquirir / mulher senhora /
        homem senhor / foto fotografia / falar conversar / empresa companhia / telemóvel celular""",
    "nl": """auto wagen / kind kinderen / fiets rijwiel / beginnen starten / kopen aanschaffen / vrouw dame / man heer
        /
        foto afbeelding / praten spreken / bedrijf firma""",
    "pl": """samochód auto / dziecko dzieciak / rower bicykl / kupić nabyć / kobieta pani / mężczyzna pan / zdjęcie
        fotografia""",
    "ru": """машина автомобиль авто / ребёнок ребенок / начать начинать / купить приобрести / фото фотография снимок /
        мужчина человек / женщина дама""",
}


def _table(language: str) -> dict[str, frozenset[str]]:
    groups = [tuple(group.split()) for group in _GROUPS[language].split("/")]
    if language == "en":
        groups += english.SYNONYMS
    table: dict[str, set[str]] = {}
    for group in groups:
        for word in group:
            table.setdefault(word, set()).update(group)
    return {word: frozenset(others - {word}) for word, others in table.items()}


SYNONYMS: dict[str, dict[str, frozenset[str]]] = {language: _table(language) for language in _GROUPS}
"""Word → the words that may stand for it. Not transitive: `a` may stand for `b`, `b` for `c`, and `a` not for `c`."""
