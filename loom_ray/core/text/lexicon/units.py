"""What is measured in which unit? Unit words and signs, their dimension, and their size in its base unit."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple


class Unit(NamedTuple):
    dimension: str
    factor: Decimal  # in base units of the dimension; 1 where units are not converted into each other


_TABLE = """
length 0.001 mm millimetre millimetres millimeter millimeters millimeter 毫米 мм
length 0.01 cm centimetre centimetres centimeter centimeters zentimeter centimètres centímetros centimetri 厘米 センチ
length 0.01 см
length 1 m metre metres meter meters mètre mètres metro metros metri metrów 米 メートル 미터 м метр метра метров
length 1000 km kms kilometre kilometres kilometer kilometers kilomètres kilómetros chilometri quilômetros quilómetros
length 1000 公里 キロ 킬로미터 км
length 0.3048 ft foot feet
length 0.0254 inch inches in″
length 0.9144 yd yard yards
length 1609.344 mi mile miles
mass 0.001 mg milligram milligrams
mass 1 g gram grams gramme grammes gramm gramos grammi г
mass 1000 kg kgs kilo kilos kilogram kilograms kilogramm kilogrammes kilogramos chilogrammi quilos 公斤 千克
mass 1000 キログラム 킬로그램 кг
mass 1000000 t ton tons tonne tonnes tonnen 吨
mass 453.59237 lb lbs pound_mass
mass 28.349523125 oz ounce ounces
time 0.001 ms millisecond milliseconds millisekunden
time 1 s sec secs second seconds sekunde sekunden seconde secondes segundo segundos secondi sekund 秒 초 วินาที секунд
time 1 секунды сек
time 60 min mins minute minutes minuten minuto minutos minuti minuut minut 分 分钟 分鐘 분 นาที минут минуты мин دقيقة
time 60 دقائق
time 3600 h hr hrs hour hours stunde stunden heure heures hora horas ora ore uur uren godzin godziny 小时 小時 時間
time 3600 시간 ชั่วโมง часов часа ч ساعة ساعات
time 86400 day days tag tage tagen jour jours día días dia dias giorno giorni dag dagen dni 天 วัน день дня дней يوم
time 86400 أيام
time 604800 week weeks woche wochen semaine semaines semana semanas settimana settimane weken tygodni 周 週間 주
time 604800 สัปดาห์ недель недели أسبوع أسابيع
time 2629746 month months monat monate monaten mois mes meses mese mesi mês maand maanden miesięcy 个月 ヶ月 か月 개월
time 2629746 เดือน месяцев месяца شهر أشهر
time 31556952 year years yr yrs jahr jahre jahren an ans año años anno anni ano anos jaar lat 年間 년간 ปี лет года
time 31556952 سنة سنوات
data 1 b byte bytes
data 1000 kb kilobyte kilobytes
data 1000000 mb megabyte megabytes мб
data 1000000000 gb gigabyte gigabytes гб
data 1000000000000 tb terabyte terabytes
data 1024 kib
data 1048576 mib
data 1073741824 gib
data 1099511627776 tib
rate 1000 kbps kbit/s
rate 1000000 mbps mbit/s
rate 1000000000 gbps gbit/s
volume 0.001 ml millilitre millilitres milliliter milliliters
volume 1 l litre litres liter liters litro litros litri 升 リットル
volume 3.785411784 gallon gallons
volume 0.2365882365 cup cups
volume 0.0147867648 tbsp tablespoon tablespoons
volume 0.00492892159 tsp teaspoon teaspoons
temperature 1 °c ℃ celsius
fahrenheit 1 °f fahrenheit
kelvin 1 kelvin
degree 1 ° degree degrees grad degrés grados gradi graus graden 度 градусов
share 1 % percent pct prozent pourcent porcento procent % 퍼센트 процентов процента
bar 1 bar bars
pascal 1 pa
pascal 1000 kpa
pascal 1000000 mpa
psi 1 psi
power 1 w watt watts
power 1000 kw kilowatt kilowatts
power 1000000 mw megawatt megawatts
energy 1 wh
energy 1000 kwh
energy 1000000 mwh
volt 1 v volt volts
ampere 1 a_ amp amps ampere
frequency 1 hz hertz
frequency 1000 khz
frequency 1000000 mhz
frequency 1000000000 ghz
speed 1 km/h kmh kph
mph 1 mph
usd 1 $ usd dollar dollars dólares dollari 美元 ドル 달러
eur 1 € eur euro euros 欧元 ユーロ 유로 евро
gbp 1 £ gbp pounds sterling
jpy 1 ¥ jpy yen 円 엔
cny 1 cny rmb yuan 元 块 人民币
krw 1 ₩ krw won 원
inr 1 ₹ inr rupee rupees
rub 1 ₽ rub рублей рубля руб
chf 1 chf franken francs franc
try 1 ₺ try lira
pln 1 pln zł złotych
sek 1 sek kronor
nok 1 nok
dkk 1 dkk kroner
thb 1 ฿ thb บาท
cad 1 cad
aud 1 aud
calorie 1 cal calories calorie
calorie 1000 kcal
pixel 1 px pixel pixels
decibel 1 db decibels decibel
"""

UNITS: dict[str, Unit] = {
    alias: Unit(dimension, Decimal(factor))
    for line in _TABLE.strip().splitlines()
    for dimension, factor, *aliases in [line.split()]
    for alias in aliases
}

CASE_SENSITIVE_UNITS = {"MW": UNITS["mw"], "mW": Unit("power", Decimal("0.001")), "Mb": Unit("bit", Decimal(1000000))}
"""Units that only their letter case tells apart."""

SIGNS_BEFORE = frozenset("$€£¥₩₹₽₺฿")
"""Currency signs that stand before their number."""

AMBIGUOUS: dict[str, frozenset[str]] = {
    "in": frozenset(), "an": frozenset({"fr"}), "ans": frozenset({"fr"}), "lat": frozenset({"pl"}), "won": frozenset(),
    "try": frozenset(), "mes": frozenset({"es", "pt"}), "bar": frozenset({"en", "de", "fr", "nl", "it"}),
    "pounds": frozenset({"en"}), "tag": frozenset({"de"}), "dag": frozenset({"nl", "sv", "da"}),
    "dia": frozenset({"pt"}), "hora": frozenset({"es", "pt"}), "ora": frozenset({"it"}), "ore": frozenset({"it"}),
    "b": frozenset(), "mi": frozenset(), "franc": frozenset({"en", "fr"}), "metro": frozenset({"es", "it", "pt"}),
    "min": frozenset({"en", "de", "fr", "nl"}),
    "sec": frozenset({"en"}), "cal": frozenset(), "pa": frozenset(), "л": frozenset(),
}  # fmt: skip
"""Aliases that are also ordinary words: units only in these languages, glued to the number, or in capitals (TRY)."""
