"""Sentences with one number in other languages than English: `Bob come 12 manzanas.`

Each language has the verbs that say how much. A sentence without one of them, or with a word that
bounds, denies or doubts its number, states nothing; so does one of any language that is not here.
"""

from __future__ import annotations

import re

_MAX_CHARACTERS = 300
"""Longest sentence that is read."""

# What a sentence with Latin or Cyrillic letters has up to its number: a verb of Spanish, French,
# German, Swahili or Russian, and some words behind it: `Bob come en total `, `alinunua keki `.
_VERB_BEFORE = re.compile(
    r"(?:.*\s)?(?:"
    r"tiene[ns]?|tendr[áé]n?|gana[ns]?|hay|había|come[ns]?|bebe[ns]?|cuestan?|usan?|corren?|caminan?"
    r"|ahorran?|recogen?|pasan?|ven?|quedan?|necesitan?|deben?|puede[ns]?|vende[ns]?|compran?|pagan?"
    r"|gastan?|obtienen?|comenzó\s+con|(?:era|es|fue)\s+de|es|era|son|fue|tiene\s+que|(?:[^\W\d]{2,}(?:ó|ará|erá|irá|drá|arán|erán|irán|drán|aron|ieron))"
    r"|ai|(?-i:[A-Z][\w'’-]*|[Ii]l|[Ee]lle|[Oo]n)\s+a|avons|avez|ont|avait|avaient|aura|auront|est|sont|était|étaient|gagne(?:nt)?|mange(?:nt)?|boi(?:t|vent)"
    r"|coûte(?:nt)?|paient?|paye|utilise(?:nt)?|possède(?:nt)?|reste(?:nt)?|doi(?:t|vent)|devr(?:a|ont)|peu(?:t|vent)"
    r"|pourr(?:a|ont)|dépense(?:nt)?|cour(?:t|ent)|passe(?:nt)?|dispose\s+maintenant\s+de|commencé\s+avec|faut"
    r"|hat|haben|hatte|hatten|ist|sind|war|waren|wird|werden|muss|müssen|kann|können|kosten|kostet"
    r"|isst|essen|trinkt|verdient|verdienen|braucht|brauchen|benötigt|benötigen|zahlt|zahlen|gibt(?:\s+es)?"
    r"|verbringt|sammelt|besitzt|verkauft|spart|läuft|dauert|sitzen|kauft|kaufen|fingen"
    r"|[a-zäöüß]{3,}(?:te|ten)"
    r"|ni|ana|wana|ina|zina|kuna|kulikuwa|[Nn]dani\s+kuna|hu[a-z]{3,}"
    r"|(?:a|wa|i|li|ki|vi|ya|zi|ku|u)(?:li|na|ta|me|nge)[a-z]{2,}"
    r"|[а-яё]{2,}(?:л|ла|ло|ли|лся|лась|лось|лись|ет|ёт|ит|ут|ют|ат|ят|ется|ится)|есть|всего"
    r")(?:\s+[^\W\d]+){0,6}?\s+[$€£]?",
    re.IGNORECASE,
)
# An age in Russian, up to its number: the `Джексону ` of `Джексону 4 года`.
_AGE = re.compile(r"[А-ЯЁ][а-яё]+[ую]\s+\d+\s+(?:год|года|лет)\.?")
# A word right before a number that only places it: the `las ` of `de las 12 manzanas`.
_PLACED = re.compile(
    r"(?<!total )(?<!ganancia )(?<!profit )(?<!jumla )(?<!faida )(?<!maintenant )"
    r"(?<!comenzó )(?<!commencé )(?<!era )(?<!es )(?<!fue )(?<!velocidad )"
    r"\b(?:de|del|des|du|d['’]|les?|las?|los|l['’]|el|von|vom|der|die|das|den|dem|des|mit|um|bis|con|avec"
    r"|por|para|pour|par|sur|sous|sans|sin|ohne|en|in|im|an|am|auf|aus|à|aux|nach|vor|für|zu|seit|ab"
    r"|entre|zwischen|unter|über|gegen|tras|sobre|dans|chez|ya|za|wa|kwa|katika|na|из|от|на|до|по|о|об|у"
    r"|к|с|со|в|за|через|для|при|без|под|над|между|этих|тех)\s+[$€£]?\Z",
    re.IGNORECASE,
)
# Words of these languages that bound a number, deny it, leave it open, or make it another one.
_CHANGED = re.compile(
    r"\b(?:menos|más|casi|hasta|máximo|mínimo|millon\w*|mil|cient\w*|cent\w*|docenas?|medi[oa]|mitad|tercio"
    r"|cuart\w*|quint\w*|sabe\w*|nunca|no|ningun\w*|nadie|cuánt\w*|cuando|quizás?|unos|unas|una(?!\s+(?:semana|hora|ganancia|velocidad)\b)|uno|ni|quien"
    r"|(?<!tiene )(?<!tienen )que|qué|depend\w*|imposible|desconocid\w*|además|pero"
    r"|aproximad\w*|cerca"
    r"|o|y|e|sin"
    r"|moins|plus|presque|jusqu\w*|maximum|minimum|mille|milliers?|millions?|milliards?|douzaines?|demi\w*"
    r"|ne|jamais|aucune?|personne|combien|peut-être|environ|qui|dépend|inconnu\w*|impossible|mais|et|une(?!\s+(?:semaine|heure)\b)"
    r"|weniger|mehr|fast|beinahe|höchstens|maximal|minimal|bis|nie|niemals|niemand|unklar|unbekannt|unmöglich"
    r"|wie|ob|vielleicht|etwa|ungefähr|knapp|rund|wenn|tausend\w*|hundert\w*|million\w*|milliard\w*|dutzend\w*"
    r"|drittel|viertel|fünftel|abhäng\w*|aber|und|eins?|ohne|keine?[nr]?|als"
    r"|fino|quasi|meno|più|circa|almeno|massimo|quase|até|mais|não|nem|nunca|pelo|metade|mezz[oa]|senza|sem"
    r"|zaidi|chini|karibu|angalau|hadi|kama|ikiwa|ama|takriban\w*|kati|nusu|robo|theluthi|milioni|elfu|mia|laki"
    r"|iwapo|si|sio|siyo|pungufu|kasoro|wala|bila|lakini|ngapi|mmoja"
    r"|(?-i:ha(?!pa|yo\b|po\b|ya\b|wa\b|lisi|rusi|tima)[a-z]{2,})"
    r"|более|менее|больше|меньше|почти|около|свыше|примерно|едва|никто|никогда|неизвестно|нельзя|невозможно"
    r"|сколько|если|может|возможно|максимум|минимум|тысяч\w*|миллион\w*|сот\w*|треть|четверть|чем|один|одно"
    r"|одна|но|и|а|ни|без|кто|котор\w*|зависит|вряд)\b|n['’]|[;:()\"]|,(?!\s+um\b)",
    re.IGNORECASE,
)
# The same in Chinese, Japanese, Thai, Bengali and Telugu.
_NEVER_STATED = re.compile(
    r"以上|以下|以外|以内|以前|多个|多[名元]|几|不|未|没|無|无|非|如果|假如|假设|若|要是|之一|分之|或|至|将近|接近|近\s?\d|几乎|差不多"
    r"|超[过出過]|大于|小于|多于|少于|大约|左右|约\s?\d|可能|也许|谁|多少|什么|最[多少高低大小]|之间|另外|但|只要|除[了非]|\d.*[和与再]"
    r"|未満|より|ほど|まで|ほぼ|くらい|ぐらい|近く|かも|だろう|でしょう|か[。?]?\Z|なら|れば|たら|もし|ない|なく|ません|ずに|半|分の|と、|や\s?\d"
    r"|กว่า|ไม่|เกือบ|ประมาณ|อย่างน้อย|อย่างมาก|เกิน|ถึง|หรือ|ถ้า|หาก|ระหว่าง|สูงสุด|ต่ำสุด|เศษ|บาง|อาจ|\d.*และ|เท่า(?!กับ)|ใคร|กี่|อะไร|ครึ่ง|ยกเว้น"
    r"|คำถาม|মধ্যে|কম|বেশি|প্রায়|অন্তত|যদি|অথবা|কিংবা|পর্যন্ত|ভাগ|অজানা|নি[।.]?\Z|\sনা[।.\s]|\sনা\Z|নয়|নেই|কত|\d.*এবং|সর্ব|অর্ধ|শত|\d\s?শ\s"
    r"|లేద|లేవు|లేరు|కాదు|తక్కువ|ఎక్కువ|కంటే|దాదాపు|సుమారు|కనీసం|గరిష్ట|అయితే|వరకు|వంతు|వంద|ఒకవేళ|తెలియ"
    r"|మించి|మధ్య|\d.*మరియు|ఎన్ని|ఎంత|సగం"
)
_ONE = r"\d[\d,.]{0,15}"
# A verb of Chinese or Thai before the number, or one of Japanese, Bengali or Telugu at the end.
_VERB_IN_SCRIPT = re.compile(
    rf"[^\d\n]{{1,100}}[了点有是为為得到出要過过共花付买吃用剩赢赚需给走跑拿喝收卖掉下看达每获读]\s?[$€£]?{_ONE}[^\d]{{0,30}}"
    rf"|[^\d\n]{{0,100}}(?:มี|ได้|ใช้|ต้อง|กิน|จ่าย|เป็น|คือ|ขาย|ซื้อ|เหลือ|จะ|เดิน|สั่ง|ดื่ม|อบ|อายุ|ชนะ|เกิดมา)[^\d\n]{{0,60}}{_ONE}[^\d]{{0,60}}"
    rf"|[^\d\n]{{0,150}}{_ONE}[^\d\n]{{1,100}}(?:ます|です|でした|した|った|んだ|いた|べた|[うくすむる])[。.]?"
    rf"|[^\d\n]{{0,150}}{_ONE}[^\d\n]{{0,100}}(?:ছে|ছেন|ছিল|ছিলেন|বে|বেন|রে|রেন|আছে|বছর|য়|ন|ল)[।.]?"
    rf"|[^\d\n]{{0,150}}{_ONE}[^\d\n]{{0,100}}(?:ాడు|ింది|ారు|ాయి|ుంది|ాలి|చ్చు|లరు|లదు|ండి|ాను|డుతుంది)[.]?"
)
# A word that only English sentences have.
_ENGLISH = re.compile(
    r"\b(?:the|of|to|and|his|he|her|she|they|their|by|from|with|it|you|your|is|are|was|were|has|have|had"
    r"|did|does|do|can|nearly|almost|than|never|only|about|some|each|all|ate|at|up)\b",
    re.IGNORECASE,
)
# Whether a sentence has words in one of these scripts.
_IN_SCRIPT = re.compile(r"[\u0980-\u09ff\u0c00-\u0c7f\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff]")


def is_changed(words: str) -> bool:
    """Whether words behind a number bound it, deny it, or make it another one.

    >>> is_changed("以上"), is_changed("manzanas"), is_changed("más")
    (True, False, True)
    """
    return _CHANGED.search(words) is not None or _NEVER_STATED.search(words) is not None


def says_how_many(sentence: str, start: int, end: int) -> bool:
    """Whether a sentence of another language than English states the number between two places.

    >>> says_how_many("Bob come 12 manzanas.", 9, 11), says_how_many("Bob sabe las 12.", 13, 15)
    (True, False)

    Args:
        sentence: the sentence, whose only number it is.
        start: the start of the number.
        end: the end of that.
    """
    if len(sentence) > _MAX_CHARACTERS:
        return False
    if _IN_SCRIPT.search(sentence):
        is_changed = _NEVER_STATED.search(sentence) is not None
        return not is_changed and _VERB_IN_SCRIPT.fullmatch(sentence) is not None
    if _ENGLISH.search(sentence):
        return False
    if _CHANGED.search(sentence, 0, start) or _CHANGED.search(sentence, end):
        return False
    if _AGE.fullmatch(sentence):
        return True
    has_verb = _VERB_BEFORE.fullmatch(sentence, 0, start) is not None
    return has_verb and _PLACED.search(sentence, 0, start) is None
