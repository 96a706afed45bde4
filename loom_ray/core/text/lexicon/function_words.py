"""Which words only hold a sentence together? By language (ISO 639-1); their absence or change makes no other fact.

Left out on purpose, since they carry meaning: negators, quantifiers (all, only, most), modals (must, may), tense
(was, will), comparison (more, before), the persons that act (I, he, we).
"""

from __future__ import annotations

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": """a an the this that these those of in on at to for from by with as into onto upon about through along
            across within during and or but so
            is are am be been being has have had having do does did it its itself there here who which whose whom
            what how when where while than then too also just very really quite rather some any such own s t d ll m
            re ve my your our their his her him them me us if because since though although however already yet still
            via per etc please oh well i im ive id""",
        "de": """der die das den dem des ein eine einen einem einer eines und oder aber in im an am auf aus bei beim
            mit nach von vom zu zum zur für um durch gegen als wie ist sind bin bist sein gewesen hat haben habe hast
            hatte hatten wird werden worden es sich dass daß so auch noch schon nur dann wenn weil ob da hier dort
            sehr dieser diese dieses diesem diesen jener jene jenes was wer wo wann mein dein ihr ihre ihren ihrem
            ihrer seine seinen seinem seiner unser unsere euer ich""",
        "fr": """le la les l un une des du de d et ou mais à au aux en dans sur sous par pour avec chez vers est sont
            suis es sommes êtes être été a ont ai as avons avez avoir eu ce cet cette ces c qui que qu quoi dont où
            se s y il y son sa ses mon ma mes ton ta tes notre nos votre vos leur leurs aussi très bien comme si
            donc car puis alors lui ça cela je j""",
        "es": """el la los las lo un una unos unas de del y e o u pero a al en con por para sobre desde hacia es son
            soy eres somos está están estoy ser estar sido siendo estando ha han he hay haber se su sus mi mis tu tus
            nuestro nuestra nuestros nuestras que quien cual cuyo donde como cuando si también muy ya este esta estos
            estas ese esa esos esas esto eso le les yo""",
        "it": """il lo la i gli le l un uno una dei degli delle del dello della dell di d e ed o ma a al allo alla ai
            agli alle all in nel nello nella nei nelle nell su sul sulla sui sulle con per tra fra da dal dalla dai
            è sono sta stanno essere stato stata stati state stare ha hanno ho hai abbiamo avere si suo sua suoi sue
            mio mia tuo tua nostro nostra che chi cui dove come quando se anche molto già questo questa questi queste
            quello quella quel quell quei ci ne io""",
        "pt": """o a os as um uma uns umas de do da dos das e ou mas ao aos à às em no na nos nas num numa com por
            pelo pela pelos pelas para sobre desde é são sou está estão estou ser estar sido foi sendo tem têm há
            haver se seu sua seus suas meu minha teu tua nosso nossa que quem qual cujo onde como quando também muito
            já este esta estes estas esse essa esses essas isso isto lhe lhes eu""",
        "nl": """de het een en of maar in op aan bij met van voor uit naar om te door over als is zijn ben bent
            geweest heeft hebben heb hebt had hadden wordt worden er die dat deze dit wie wat waar wanneer hoe dan
            ook nog al zo zich zijn haar hun mijn jouw onze ons ‘t 't zeer heel ik""",
        "pl": """i oraz a ale lub albo w we z ze na do od o u po przy przez dla za jest są być był była było były się
            to ten ta te tego tej tych tym temu który która które którego której których że gdy kiedy gdzie jak
            co kto czy też także już jeszcze bardzo mój moja moje twój jego jej ich nasz wasz swój swoją ja""",
        "ru": """и а но или в во на с со к ко от до из у по о об обо за для при через над под это этот эта эти этого
            этой этих тот та те того той тех который которая которое которые есть быть является являются
            что чтобы как где когда кто ли же бы то так тоже также уже ещё еще очень его её ее их мой моя моё мои
            наш наша наше наши ваш свой своя свою свои себя я""",
        "ar": """في من على إلى الى عن مع و أو او ثم هذا هذه ذلك تلك التي الذي الذين أن ان إن كان كانت يكون تكون هو هي
            هم قد كل ب ل ك""",
        "zh": """的 了 在 是 着 个 這 这 那 一 地 得 们 之 其 与 和 及 或 而 就 也 把 被 于 以 很 正 过 呢 吗 吧 啊
            將 将 會 会""",
        "ja": """は が を に で と も の へ や か ね よ から まで より です ます でした ました である であり だ だった
            する します
            した して している しています いる います いた いました ある あります あった れる られる れた られた され
            された される されます など という こと もの その この あの それ これ ため ば
            って て た り し い う く な さ""",
        "ko": """은 는 이 가 을 를 에 의 와 과 도 로 으로 에서 에게 께 한 그 저 것 수 등 및 또는 그리고 하는 있다
            있습니다 합니다 이다 입니다""",
        "th": "",
        "sv": """en ett den det de och eller men i på av till från med för om vid är var vara varit har hade som att
            sig sin sitt sina min din vår ni så också mycket när där här""",
        "da": """en et den det de og eller men i på af til fra med for om ved er var være været har havde som at sig
            sin sit sine min din vores så også meget når der her""",
        "cs": """a i ale nebo v ve na z ze do od o u po pro při je jsou být byl byla bylo byli se si to ten ta že který
            která které jak kde když""",
        "uk": """і й та а але або в у на з зі до від із по про за для при це цей ця ці який яка які що щоб як де коли є
            бути же також вже ще дуже""",
        "tr": "ve veya ama bir bu şu o da de ki ile için gibi mi mı mu mü daha çok en her",
        "hi": "का के की को में से पर और या है हैं था थी थे यह वह ये वे एक ने तो भी ही लिए कि जो",
    }.items()
}
"""Words by language. One-letter rests of elisions (l', d', s) count with their language."""

INDEFINITE: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "a an some someone somebody several many few people there another one various different any",
        "de": "ein eine einen einem einer eines einige mehrere jemand leute viele es",
        "fr": "un une des quelques plusieurs quelqu beaucoup",
        "es": "un una unos unas algunos algunas alguien varios varias hay muchos",
        "it": "un uno una un' alcuni alcune qualcuno dei degli delle molti",
        "pt": "um uma uns umas alguns algumas alguém vários várias muitos",
        "nl": "een enkele iemand sommige meerdere veel er",
        "pl": "jeden jakiś ktoś kilka kilku ludzie pewien",
        "ru": "один одна какой-то кто-то несколько люди некий",
        "sv": "en ett några någon",
        "da": "en et nogle nogen",
    }.items()
}
"""Words that open a statement about something not named: two such statements may both be true."""

DEFINITE: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the my our your his her their its this",
        "de": "der die das den dem des mein unser ihr sein dein",
        "fr": "le la les l mon ma mes notre nos son sa ses votre vos leur ce cette",
        "es": "el la los las mi mis nuestro nuestra su sus este esta",
        "it": "il lo la i gli le l mio mia nostro nostra suo sua questo questa",
        "pt": "o a os as meu minha nosso nossa seu sua este esta",
        "nl": "de het mijn onze ons zijn haar hun deze dit",
    }.items()
}
"""Articles and possessives that point at one thing known: `X is the head of sales` names one holder."""

BEINGS = frozenset(
    """man men woman women person people boy boys girl girls child children kid kids lady ladies guy guys
    baby dog dogs cat cats animal animals band player group crowd couple adult adults mann männer
    frau frauen person junge mädchen kind kinder hund katze homme hommes femme femmes personne
    garçon fille enfant chien chat hombre hombres mujer mujeres persona niño niña perro gato uomo
    uomini donna donne ragazzo ragazza bambino bambina cane gatto homem homens mulher mulheres
    pessoa menino menina criança cão cachorro gato man vrouw vrouwen persoon jongen meisje kind hond
    kat człowiek ludzie mężczyzna kobieta osoba chłopiec dziewczyna dziewczynka dziecko pies kot
    человек люди мужчина женщина мальчик девочка девушка ребёнок ребенок собака собачка кошка кот
    блондинка""".split()
)
"""A being that nothing names: `the man` of one statement is hardly the man of another."""

UNSPACED_BEINGS = tuple(
    """男人 女人 男子 女子 男孩 女孩 个人 一人 那人 此人 孩子 狗 猫 男性 女性 男が 男は 女が 女は
    の人 人が 人は 犬 子供 男の子 女の子 남자 여자 사람 아이 소년 소녀 개가 ผู้ชาย ผู้หญิง
    เด็ก""".split()
)
"""The same in scripts without spaces, some with the particle that marks the subject."""

COORDINATORS = frozenset(
    """and or & und oder et ou y e o u ed en of i oraz lub и или и و 和 と や 및 och eller og eller""".split()
)

PREPOSITIONS = frozenset(
    """of in on at to for from by with into onto upon about through along across within during as via after
    before under over between against towards toward aus bei mit nach von vom zu zum zur für um
    durch gegen auf an am im zwischen à de du des dans sur sous par pour avec chez vers entre en con
    por para hacia desde hasta da dal dalla di del della nel nella su sul sulla per tra fra em no na
    nos nas pelo pela ao do dos das met voor uit naar om door op aan van tot w we z ze do od po przy
    przez dla za na в во на с со к ко от до из у по для за は が を に で と から まで へ の""".split()
)
"""Words that govern the word behind them (Japanese: before them)."""
