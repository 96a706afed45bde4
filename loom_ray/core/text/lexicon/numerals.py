"""Which words are numbers? Cardinals and ordinals by language, multipliers, and the numerals of Chinese characters."""

from __future__ import annotations


def _pairs(text: str) -> dict[str, int]:
    return {
        word: int(number)
        for entry in text.split()
        for words, number in [entry.rsplit("=", 1)]
        for word in words.split("|")
    }


CARDINALS: dict[str, dict[str, int]] = {
    language: _pairs(text)
    for language, text in {
        "en": """zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12
            thirteen=13 fourteen=14 fifteen=15 sixteen=16 seventeen=17 eighteen=18 nineteen=19 twenty=20 thirty=30
            forty=40 fifty=50 sixty=60 seventy=70 eighty=80 ninety=90 dozen=12""",
        "de": """null=0 eins=1 zwei|zwo=2 drei=3 vier=4 fünf=5 sechs=6 sieben=7 acht=8 neun=9 zehn=10 elf=11 zwölf=12
            dreizehn=13 vierzehn=14 fünfzehn=15 sechzehn=16 siebzehn=17 achtzehn=18 neunzehn=19 zwanzig=20
            dreißig|dreissig=30 vierzig=40 fünfzig=50 sechzig=60 siebzig=70 achtzig=80 neunzig=90""",
        "fr": """zéro=0 deux=2 trois=3 quatre=4 cinq=5 six=6 sept=7 huit=8 neuf=9 dix=10 onze=11 douze=12 treize=13
            quatorze=14 quinze=15 seize=16 vingt=20 trente=30 quarante=40 cinquante=50 soixante=60""",
        "es": """cero=0 dos=2 tres=3 cuatro=4 cinco=5 seis=6 siete=7 ocho=8 nueve=9 diez=10 once=11 doce=12 trece=13
            catorce=14 quince=15 dieciséis=16 diecisiete=17 dieciocho=18 diecinueve=19 veinte=20 veinticinco=25
            treinta=30 cuarenta=40 cincuenta=50 sesenta=60 setenta=70 ochenta=80 noventa=90""",
        "it": """zero=0 due=2 tre=3 quattro=4 cinque=5 sei=6 sette=7 otto=8 nove=9 dieci=10 undici=11 dodici=12
            tredici=13 quattordici=14 quindici=15 sedici=16 diciassette=17 diciotto=18 diciannove=19 venti=20
            trenta=30 quaranta=40 cinquanta=50 sessanta=60 settanta=70 ottanta=80 novanta=90""",
        "pt": """zero=0 dois|duas=2 três=3 quatro=4 cinco=5 seis=6 sete=7 oito=8 nove=9 dez=10 onze=11 doze=12
            treze=13 quatorze|catorze=14 quinze=15 dezesseis|dezasseis=16 dezessete|dezassete=17 dezoito=18
            dezenove|dezanove=19 vinte=20 trinta=30 quarenta=40 cinquenta=50 sessenta=60 setenta=70 oitenta=80
            noventa=90""",
        "nl": """nul=0 twee=2 drie=3 vier=4 vijf=5 zes=6 zeven=7 acht=8 negen=9 tien=10 elf=11 twaalf=12 dertien=13
            veertien=14 vijftien=15 zestien=16 zeventien=17 achttien=18 negentien=19 twintig=20 dertig=30 veertig=40
            vijftig=50 zestig=60 zeventig=70 tachtig=80 negentig=90""",
        "pl": """zero=0 dwa|dwie|dwóch|dwaj|dwoje=2 trzy|trzech|trzej=3 cztery|czterech|czterej=4 pięć|pięciu=5
            sześć|sześciu=6 siedem|siedmiu=7 osiem|ośmiu=8 dziewięć|dziewięciu=9 dziesięć|dziesięciu=10 jedenaście=11
            dwanaście=12 piętnaście=15 dwadzieścia=20 trzydzieści=30 czterdzieści=40 pięćdziesiąt=50""",
        "ru": """ноль=0 два|две|двух|двое|двумя=2 три|трёх|трех|трое|тремя=3 четыре|четырёх|четырех=4 пять|пяти=5
            шесть|шести=6 семь|семи=7 восемь|восьми=8 девять|девяти=9 десять|десяти=10 одиннадцать=11
            двенадцать=12 тринадцать=13 четырнадцать=14 пятнадцать=15 шестнадцать=16 семнадцать=17 восемнадцать=18
            девятнадцать=19 двадцать=20 тридцать=30 сорок=40 пятьдесят=50 шестьдесят=60 семьдесят=70
            восемьдесят=80 девяносто=90 сто=100""",
        "sv": "två=2 tre=3 fyra=4 fem=5 sex=6 sju=7 åtta=8 nio=9 tio=10 elva=11 tolv=12 tjugo=20 trettio=30",
        "da": "to=2 tre=3 fire=4 fem=5 seks=6 syv|sju=7 otte|åtte=8 ni=9 ti=10 elleve=11 tolv=12 tyve|tjue=20",
        "ar": """اثنان|اثنين=2 ثلاثة|ثلاث=3 أربعة|أربع=4 خمسة|خمس=5 ستة|ست=6 سبعة|سبع=7 ثمانية|ثماني=8 تسعة|تسع=9
            عشرة|عشر=10 عشرون|عشرين=20 ثلاثون|ثلاثين=30""",
        "ko": "둘=2 두=2 셋=3 세=3 넷=4 네=4 다섯=5 여섯=6 일곱=7 여덟=8 아홉=9 열=10",
    }.items()
}
"""Cardinals from two on (and zero, ten …); `one` is left out where it is also the article."""

ORDINALS: dict[str, dict[str, int]] = {
    language: _pairs(text)
    for language, text in {
        "en": """first=1 second=2 third=3 fourth=4 fifth=5 sixth=6 seventh=7 eighth=8 ninth=9 tenth=10 eleventh=11
            twelfth=12 twentieth=20""",
        "de": """erste|ersten|erster|erstes=1 zweite|zweiten|zweiter|zweites=2 dritte|dritten|dritter|drittes=3
            vierte|vierten|vierter|viertes=4 fünfte|fünften|fünfter=5 sechste|sechsten=6 siebte|siebten=7
            achte|achten=8
            neunte|neunten=9 zehnte|zehnten=10""",
        "fr": """premier|première=1 deuxième|second|seconde=2 troisième=3 quatrième=4 cinquième=5 sixième=6 septième=7
            huitième=8""",
        "es": """primer|primero|primera=1 segundo|segunda=2 tercer|tercero|tercera=3 cuarto|cuarta=4 quinto|quinta=5
            sexto|sexta=6""",
        "it": "primo|prima=1 secondo|seconda=2 terzo|terza=3 quarto|quarta=4 quinto|quinta=5 sesto|sesta=6",
        "pt": """primeiro|primeira=1 segundo|segunda=2 terceiro|terceira=3 quarto|quarta=4 quinto|quinta=5
            sexto|sexta=6""",
        "nl": "eerste=1 tweede=2 derde=3 vierde=4 vijfde=5 zesde=6 zevende=7 achtste=8",
        "pl": """pierwszy|pierwsza|pierwsze|pierwszym=1 drugi|druga|drugie|drugim=2 trzeci|trzecia|trzecie|trzecim=3
            czwarty|czwartym=4""",
        "ru": """первый|первая|первое|первом=1 второй|вторая|второе|втором=2 третий|третья|третье|третьем=3
            четвёртый|четвертый=4""",
    }.items()
}

MULTIPLIERS: dict[str, int] = _pairs(
    """hundred=100 thousand=1000 million|millions|mio|mln|millionen|millones|milioni|milhões|miljoen|milionów|миллион
    |миллиона|миллионов|млн=1000000 billion|billions|bn|milliarden|milliarde|mrd|milliard|milliards|miliardi|miljard
    |миллиард|миллиарда|миллиардов|млрд=1000000000 trillion=1000000000000 tausend|mille|mil|mila|duizend|tysiąc|tysiące
    |tysięcy|tys|тысяча|тысячи|тысяч|тыс=1000 hundert|cent|cien|ciento|cento|honderd|sto=100 万|萬|만=10000
    億|亿|억=100000000 兆|조=1000000000000 千|천=1000 百|백=100""".replace("\n", "").replace("    |", "|")
)
"""Words after a number that multiply it (German and French `Milliarde` are 10^9)."""

SUFFIX_MULTIPLIERS = {"k": 1_000, "m": 1_000_000, "b": 1_000_000_000}
"""Letters glued to an amount of money or a count: 5k, $3M."""

SOFT_ONES = frozenset(["one", "一"])
"""Ways to write one that may as well be an article: alone they make no difference."""

HAN_DIGITS = {c: n for n, c in enumerate("〇一二三四五六七八九")} | {
    "零": 0,
    "两": 2,
    "兩": 2,
    "壹": 1,
    "贰": 2,
    "叁": 3,
}
HAN_POWERS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "萬": 10_000, "億": 100_000_000, "亿": 100_000_000}
HAN_COUNTERS = frozenset(
    "个個名人年月日点點时時分秒天周週次件円元块层階楼つ本枚台回歳岁杯条張张位只匹頭头號号室口家种種倍度米里斤公吨"
)
"""Characters that make the numeral before them a count; a lone 一 is an article all the same."""
