"""Sentences in which nobody speaks or is spoken to.

Models that mean a call speak of themselves or to the reader, or begin with what they do (`Searching ...`, `Delete the page`).
A text about a call states what others do (`The client posts this every night:`).
"""

from __future__ import annotations

import re
from functools import cache

from llmcore.normalizer.core.words import COLONS
from llmcore.types.late import late

__all__ = ["is_impersonal", "leads_in"]

_FEW = 4  # words: a statement has as many
_FEW_SIGNS = 8  # in scripts without blanks,
_FEWEST_SIGNS = 5  # and where a subject begins it and a colon ends it
_WORD = late(r"[^\W\d_]+")
_UNSPACED = late("[\u3040-\u30ff\u3400-\u9fff]")
_PERSONS = {
    "en": r"\b(?:I|me|my|we|us|our|you|your|let|please|here|need|sorry|thanks?)\b|\A\W*(?:(?:now|okay|ok|sure|alright|right)\W+)?\w+ing\b",
    "de": r"\b(?:ich|mich|mir|mein\w*|wir|uns|unser\w*|du|dich|dir|dein\w*|ihnen|ihre?[nmrs]?|euch|bitte|hier|danke)\b",
    "fr": r"\b(?:je|me|moi|mon|ma|mes|nous|notre|nos|vous|votre|vos|tu|te|veuillez|voici|merci)\b|\bj['’]",
    "es": r"\b(?:yo|me|mi|mis|nos|nosotros|usted|tú|te|tu|aquí|gracias|favor)\b|\b\w+(?:aré|eré|iré|amos|emos|imos|remos)\b|\A\W*(?:(?:ya|ahora|te|le|lo|la|os|se)\s+){0,3}(?!todo|esto|eso)\w{2,}o\b",
    "pt": r"\b(?:eu|me|meu|minha|nos|nós|você|te|teu|seu|sua|aqui|obrigad[oa]|favor)\b|\b\w+(?:arei|erei|irei|amos|emos|imos)\b|\A\W*(?:(?:já|agora|te|lhe|o|a)\s+){0,3}(?!tudo|isto|isso)\w{2,}o\b",
    "it": r"\b(?:io|mi|mio|mia|ci|noi|nostro|lei|ti|tuo|tua|vi|ecco|grazie|favore)\b|\b\w+(?:erò|irò|iamo|remo)\b|\A\W*(?:(?:ora|subito|ti|le|lo|la)\s+){0,3}(?!tutto|questo|quello)\w{2,}o\b",
    "ru": r"\b(?:я|мне|меня|мой|моя|мы|нам|нас|вы|вам|вас|ты|тебе|тебя|ваш\w*|твой|твоя|пожалуйста|вот|спасибо)\b",
    "zh": r"[我您你请让咱]|稍等|马上|以下是",
    "ja": r"私|僕|お待ち|ください|お知らせ|ご連絡|ましょう|[^れ]ます|こちら",
    "ko": r"겠습니다|주세요|할게요|볼게요|저는|제가|드리|드릴|여기",
}
"""Somebody speaks or is spoken to."""
_SUBJECTS = (
    r"\A\W*(?:"
    r"(?:who(?:ever)?|any(?:one|body)|some(?:one|body)|wer|jemand|qui(?:conque)?|quien(?:es)?|alguien|quem|alguém|chi(?:unque)?|кто)\b|[谁誰]|"
    r"(?:the|an?|this|that|these|those|what|which|how|one|each|every|some|most|many|any|it|they|he|she|its|their|his|her|another|such|"
    r"d(?:er|ie|as|en|em|es)|ein(?:e[mnrs]?)?|diese[mnrs]?|jede[mnrs]?|man|was|wie|welche[mnrs]?|er|es|sein\w{0,2}|alle|viele|manche|"
    r"les?|une?|des|ces?|cet(?:te)?|chaque|tout\w?|tous|que?|quel\w{0,3}|comment|ils?|elles?|on|son|sa|ses|leurs?|"
    r"el|la|los|las|un[ao]?s?|est[aeo]s?|es[ae]s?|cada|tod[ao]s?|lo|cómo|sus?|"
    r"[ao]s?|um|uma|ess[ae]s?|como|seus?|suas?|il|gli|lo|i|quest[aoei]|ogni|tutt[ie]|quello|"
    r"это|этот|эта|эти|каждый|каждая|вот|так|тот|та|как|он|она|они|его|её|их)\b|[ld]['’]|dell['’]|"
    r"[这那该此某每其旧原]|上[一个]|前一|有的|この|その|あの|ある(?!いは)|前回|上記|元の|이|그|저|어떤|한\s|이전|위의)"
)
"""Words that a statement begins with: articles, pronouns, and others that lead to a subject."""
_OF_CALLS = (
    r"\b(?:this|these|those|such|dies\w*|ceci|cela|est[aeo]s?|isto|isso|quest[oaei]|эт\w+)(?:\s+\w+){0,2}\W*\Z|"
    r"\b(?:following|below|calls?|called|invo[ck]\w+|requests?|commands?|posts?|posted|sends?|sent|emit\w*|"
    r"issue[sd]|submit\w*|payloads?|snippets?|syntax|notation|markup|transcripts?|ways?|versions?|variants?|writes?|wrote|typed?|"
    r"prints?|printed|fires?|fired|"
    r"folgend\w*|solch\w*|aufruf\w*|ruft|rufen|anfragen?|befehle?|schick\w*|send\w*|ge(?:sendet|schickt)|setz\w*|"
    r"abgesetzt|schr(?:ei|ie)b\w*|weise|varianten?|fassung|"
    r"suivant\w*|appel\w*|requêtes?|commandes?|envo\w+|écri\w+|émet\w*|façon|manière|variante|instruction|"
    r"siguiente\w*|llam\w+|petici\w+|orden|enví\w+|envi\w+|escri\w+|emit\w+|modo|forma|manera|versión|"
    r"seguinte\w*|cham\w+|requisi\w+|pedido|comando|escrev\w+|maneira|versão|"
    r"seguent\w+|chiam\w+|richiest\w+|invi\w+|scri[vt]\w+|emett\w*|maniera|versione|"
    r"следующ\w+|так\w*|вызов\w*|вызыв\w+|вызвал\w*|запрос\w*|команд\w+|отправ\w+|посыл\w+|пиш\w+|написа\w+|выда\w+|способ\w*|"
    r"вариант\w*|верси\w+)\b|"
    r"[这此]|如下|以下|调用|请求|命令|发送|发出|写(?!法)|执行|输出|方式|版本|做法|こ[れのう]|次の|呼び出|リクエスト|送|書|実行|出力|方法|やり方|"
    r"다음|이렇게|호출|요청|명령|보내|보낸|쓰|쓴|실행|출력|방법|버전"
)
"""It points to what follows, or speaks of what calls are: requests, commands, what is written and sent."""
_NOW = (
    r"\b(?:now|so|therefore|hence|next|jetzt|nun|also|daher|deshalb|als\s+nächstes|maintenant|donc|ensuite|ahora|entonces|luego|agora|"
    r"então|portanto|adesso|ora|quindi|сейчас|теперь|поэтому|далее)\b|现在|接下来|因此|所以|正在|马上|开始|然后|首先|次に|では[、 ]|それでは|今から|"
    r"지금|이제|그래서|따라서|다음으로|중(?:입니다)?\W*\Z"
)
"""It is done now."""
_ANSWERED = (
    r"\A\W*(?:(?:this|these|that)\s+(?:is|are)|(?:das|dies)\s+(?:ist|sind)|ce\s+(?:est|sont)|est[eao]s?\s+(?:es|son)|est[ae]s?\s+(?:é|são)|"
    r"quest[oaei]\s+(?:è|sono)|это)\b|\A\W*(?:这(?:就)?是|これ(?:が|は)|이것(?:이|은))|"
    r"\b(?:answers?|solutions?|results?|calls?|code|command|request|antwort|lösung|ergebnis|aufruf|befehl|réponse|solution|résultat|appel|"
    r"commande|respuesta|solución|resultado|llamada|resposta|solução|chamada|risposta|soluzione|risultato|chiamata|ответ|решение|вызов)\b[^:]{0,40}?\b"
    r"(?:is|are|would\s+be|ist|lautet|est|es|é|è|будет)\W*\Z|(?:答案|结果|调用|答え|結果|回答|정답|결과|호출)(?:是|为|は|은|는)\W*\Z"
)
"""It names what follows as the answer."""


@cache
def _expression(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


def is_impersonal(sentence: str) -> bool:
    """Is it a sentence of several words in which nobody speaks or is spoken to?"""
    return _is_long(sentence) and not _has_person(sentence)


def leads_in(sentence: str) -> bool:
    """Does it end in a colon and state something of others' calls (`What a client posts every night:`), and not that it is done
    now, or is the answer?"""
    if not sentence.rstrip().endswith(COLONS):
        return False
    subject = _expression(_SUBJECTS).match(sentence)
    if subject is None or not _is_long(sentence, _FEWEST_SIGNS) or _has_person(sentence):
        return False
    if _expression(_OF_CALLS).search(sentence, subject.end()) is None:
        return False
    return _expression(_NOW, _ANSWERED).search(sentence) is None


def _has_person(sentence: str) -> bool:
    return _expression(*_PERSONS.values()).search(sentence) is not None


def _is_long(sentence: str, signs: int = _FEW_SIGNS) -> bool:
    return len(_WORD.findall(sentence)) >= _FEW or len(_UNSPACED.findall(sentence)) >= signs
