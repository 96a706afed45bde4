"""Which facts does the latency benchmark write? Distinct sentences, their contradictions and restatements."""

from __future__ import annotations

from dataclasses import dataclass

FIRST = """Ana Boris Clara Dmitri Elif Farid Greta Hiro Ines Jonas Kaya Lars Mina Nadia Omar Petra Quentin Rosa Samir
Tara Umar Vera Wanda Xavier Yara Zoe Anton Bianca Carlos Dana Emil Freya Goran Hanna Igor Julia Karim Lena Marco
Nora""".split()
LAST = """Abbott Berger Costa Dietrich Eriksen Fischer Garcia Hansen Ivanov Jensen Keller Lopez Moreau Novak Okafor
Petrov Quist Rossi Sato Tanaka Ueda Varga Weber Xu Yilmaz Zhang Adler Brandt Castro Duval Engel Ferrari Gruber
Horvat Ito Jansen Kowalski Larsen Meyer Nilsson Olsen Pereira Ricci Silva Toth Urban Vidal Wagner Young Zeller
Arnold Becker Conti Dupont Evans Fuchs Gomes Huber Iversen Jung Klein Lang Martin Neumann Ortiz Pavlov Roth
Schulz Torres""".split()
COLOURS = "amber azure beige bronze copper coral crimson cyan golden indigo ivory lilac olive pearl plum purple".split()
THINGS = """anchor badger beacon bridge canyon castle cedar comet condor delta falcon forest garden glacier harbor
heron island jaguar kestrel lagoon lantern maple meadow mirror nebula orchid otter panther pelican pillar prairie
quarry raven reef river saddle sparrow spruce summit thunder tiger timber torch tundra turtle valley violet walnut
willow wolf""".split()
CITIES = (
    "Oslo Lisbon Prague Vienna Dublin Athens Warsaw Zagreb Turin Lyon Ghent Bergen Porto Graz Malaga Bremen".split()
)
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
FOODS = "sushi ramen tacos lentils paella risotto falafel curry pizza dumplings goulash couscous".split()
TEAMS = "billing search platform identity mobile logistics reporting security storage payments".split()

PERSON_FACTS = (
    ("{who} lives in {value}.", CITIES),
    ("{who} was born in {value}.", CITIES),
    ("{who} prefers {value} for dinner.", FOODS),
    ("{who} is allergic to {value}.", FOODS),
    ("{who} works on the {value} team.", TEAMS),
    ("{who} has the weekly one-to-one on {value}.", DAYS),
    ("{who} paid the invoice of {value} euros in March.", [str(120 + 35 * n) for n in range(40)]),
    ("{who} takes the train at {value} every morning.", [f"{6 + n // 6}:{n % 6}5" for n in range(24)]),
    ("The phone extension of {who} is {value}.", [str(2000 + 37 * n) for n in range(40)]),
    ("{who} plans to visit {value} next summer.", CITIES),
    ("{who} reports to the head of {value}.", TEAMS),
    ("{who} runs {value} kilometres before work.", [str(3 + n) for n in range(18)]),
    ("On {value}, {who} picks up the children from school.", DAYS),
    ("{who} keeps {value} unread messages in the inbox.", [str(15 + 11 * n) for n in range(40)]),
    ("{who} asked for a desk in the {value} office.", CITIES),
    ("The contract of {who} ends after {value} months.", [str(6 + n) for n in range(30)]),
)
SERVICE_FACTS = (
    ("The {what} service listens on port {value}.", [str(3000 + 113 * n) for n in range(40)]),
    ("The {what} service is owned by the {value} team.", TEAMS),
    ("Backups of {what} are kept for {value} days.", [str(7 + 3 * n) for n in range(30)]),
    ("The {what} job runs every {value} at night.", DAYS),
    ("Requests to {what} time out after {value} seconds.", [str(2 + n) for n in range(40)]),
    ("The {what} database is hosted in {value}.", CITIES),
    ("The {what} cluster has {value} nodes.", [str(3 + n) for n in range(40)]),
    ("Version 4.{value} of {what} is deployed in production.", [str(n) for n in range(40)]),
)
FACTS_MAX = 38_000  # past it the same subjects come again, said to be of another site


@dataclass(frozen=True, slots=True)
class Fact:
    """What `memory.set` takes; the key tells which fact it is about, and who says so."""

    memory_key: str
    value: str


def fact(number: int) -> Fact:
    """The same for the same number, and no two alike."""
    return Fact(f"fact/{number}", _sentence(number, turn=0))


def contradiction(number: int) -> Fact:
    """The fact of that number with another value, under a key of its own."""
    return Fact(f"fact/{number}/other", _sentence(number, turn=1))


def restatement(number: int) -> Fact:
    """The fact of that number in other letters, under a key of its own."""
    return Fact(f"fact/{number}/again", _sentence(number, turn=0).upper())


def _sentence(number: int, turn: int) -> str:
    again, number = divmod(number, FACTS_MAX)
    kind = number % (len(PERSON_FACTS) + len(SERVICE_FACTS))
    subject = number // (len(PERSON_FACTS) + len(SERVICE_FACTS))
    site = f" of site {again}" if again else ""
    if kind < len(PERSON_FACTS):
        template, values = PERSON_FACTS[kind]
        who = f"{FIRST[subject % len(FIRST)]} {LAST[subject // len(FIRST) % len(LAST)]}{site}"
        return template.format(who=who, value=values[(subject * 7 + turn) % len(values)])
    template, values = SERVICE_FACTS[kind - len(PERSON_FACTS)]
    colours = f"{COLOURS[subject % 16]} {COLOURS[(subject // 16 + subject) % 16]}"
    what = f"{colours} {THINGS[subject // 16 % len(THINGS)]}{site}"
    return template.format(what=what, value=values[(subject * 7 + turn) % len(values)])
