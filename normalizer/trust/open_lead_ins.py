"""Lead-ins that leave it open whether the call behind them is made.

No list of phrases holds all that can be said of a call that is only shown (`The thief put this into the document:`, `Add this
line to main.py:`). What is said before a call that is meant is far less: that the speaker does it, that it is done now, that here
it is. So a sentence that leads in by a colon, has a word for calls or points at what follows, and says nothing of that leaves it
open; and so do a question, and a sentence whose last word asks for what comes next (`Your parser fails on`): the call is its object.
"""

from __future__ import annotations

import re
from functools import cache

from llmcore.normalizer.scanning.words import COLONS
from llmcore.normalizer.trust.lead_in_words import EXPLAINING

__all__ = ["asks", "leaves_open", "says_it_is_made", "says_it_is_now", "speaks_of_calls"]

_OF_CALLS = (
    # what stands for the call itself
    r"\b(?:this|these|those|that(?=\W*\Z)|such|following|below|dies\w*|folgend\w*|solch\w*|ceci|cela|ça|suivante?s?|est[aeo]s?|siguientes?|lo\s+de\s+abajo|"
    r"isto|isso|ess[ae]s?|seguintes?|quest[oaei]|seguent[ei]|quanto\s+segue|это[тй]?|эт[аиуо]\w*|следующ\w+|так\w{1,3})\b|"
    # a call, and what is asked of others
    r"\b(?:\w{0,16}calls?|called|calling|invo[ck]\w+|requests?|commands?|instructions?|payloads?|snippets?|transcripts?|"
    r"\w{0,24}aufrufe?[ns]?|aufzurufen|ruft|rufen|anfragen?|anweisung\w*|befehle?|"
    r"appel\w*|requêtes?|commandes?|instructions?|"
    r"llam\w+|petici\w+|órdenes|orden|instrucci\w+|cham\w+|requisi\w+|pedido|comando|instruç\w+|chiam\w+|richiest\w+|istruzion\w+|"
    r"вызов\w*|вызыв\w+|вызвал\w*|вызва\w+|запрос\w*|команд\w+|инструкци\w+)\b|"
    # that one is run, sent or written
    r"\b(?:run|ran|runs|running|execut\w+|launch\w*|fires?|fired|submit\w*|dispatch\w*|posts?|posted|sends?|sent|sending|emit\w*|issue[sd]|outputs?|"
    r"writes?|wrote|written|typed?|prints?|printed|paste[sd]?|logged|produce[sd]|"
    r"ausführ\w*|auszuführen|ausgeführt|schick\w*|absend\w*|abschick\w*|send\w*|ge(?:sendet|schickt)|abgesetzt|setz\w*|schr(?:ei|ie)b\w*|"
    r"exécut\w*|lanc\w+|envo\w+|enverr\w*|écri\w+|émet\w*|émis\w*|ejecut\w*|lanz\w*|enví\w+|envi\w+|mand\w+|escri\w+|emit\w+|"
    r"execut\w+|envi\w+|escrev\w+|emit\w+|esegu\w+|lanci\w+|invi\w+|scri[vt]\w+|emett\w*|emess\w+|"
    r"выполн\w+|запус\w+|отправ\w+|посыл\w+|послал\w*|пиш\w+|написа\w+|выда\w+)\b|"
    # how it is written, and where it stands
    r"\b(?:syntax|notation|markup|formats?|forms?|samples?|ways?|versions?|variants?|usage|documentation|docs|manual|guide|lines?|(?:answers?|repl(?:y|ies)|responds?)(?=\s+with\b)|"
    r"format\w*|weise|varianten?|fassung|zeilen?|\w{0,24}beispiel\w*|\w{0,16}muster\w*|veranschaulichung|doku\w*|handbuch\w*|antworte[nt]?(?=\s+mit\b)|das\s+hier|"
    r"syntaxe|façon|manière|variante|lignes?|illustration|manuel|guide|répond\w*(?=\s+(?:par|avec)\b)|respond\w*(?=\s+com?n?\b)|rispond\w*(?=\s+con\b)|sintaxis|modo|formas?|maneras?|versión|líneas?|ejemplos?|ilustraci\w+|"
    r"sintaxe|maneiras?|versão|linhas?|exemplos?|ilustraç\w+|sintassi|maniera|versione|righe|riga|esempi?o?|illustrazione|utilizzo|"
    r"способ\w*|вариант\w*|верси\w+|строк\w+|наглядности|пример\w*)\b|"
    r"[这此]|如下|以下|下列|下面|调用|请求|命令|指令|发(?!现)|写(?!法)|执行|运行|输出|方式|版本|做法|说明|格式|"
    r"こ[れのう]|次の|以下|下記|呼び出|リクエスト|コマンド|指示|送|実行|出力|方法|やり方|形式|説明|"
    r"다음|이렇게|이것|이걸|이\s*(?:줄|코드|문장|블록)|호출|요청|명령|지시|보내|보낸|보낼|쓰|쓴|실행|출력|방법|버전|형식|설명"
)
"""It points to what follows, or speaks of calls: what is asked, run, sent and written, and how."""
_OF_FILES = r"[\w./-]{1,64}\.[a-z]{1,5}(?:\s*[:：])?\W*\Z|\b\w[\w/-]{0,64}\.(?:py|js|ts|json|ya?ml|toml|txt|md|sh|env|cfg|ini|html|xml|sql)\b|\b(?:replace|ersetze\w*|remplac\w+|reemplac\w+|substitu\w+|sostitu\w+|замени\w*)\b|替换|置き換え|바꾸"
"""It is to be put elsewhere: into a file, in the place of something."""
_NOW = (
    r"\bto\s+(?:answer|do|find|get|solve|know)\b[^:]*\b(?:use|call|make|run)\b|"
    r"\b(?:now|first|then|both|so|therefore|hence|next|jetzt|nun|zuerst|zunächst|dann|gleich|sofort|beide|daher|deshalb|als\s+nächstes|maintenant|d['’]abord|puis|immédiatement|donc|ensuite|ahora|primero|enseguida|entonces|luego|agora|primeiro|"
    r"então|portanto|adesso|ora|subito|prima|quindi|сейчас|теперь|сначала|сразу|поэтому|далее)\b|现在|接下来|因此|所以|正在|马上|开始|然后|首先|次に|まず|では[、 ]|それでは|今から|"
    r"지금|이제|그래서|따라서|다음으로|중(?:입니다)?\W*\Z"
)
"""It is done now."""
_ANSWERED = (
    r"\b(?:here(?:['’]s|\s+(?:is|are|goes|comes?))|hier\s+(?:ist|sind|kommt|kommen)|voici|voilà|aquí\s+(?:está|están|tiene|va)|aqui\s+(?:está|estão|vai)|ecco|вот)\b"
    r"(?!\W+(?:what|how|was|wie|ce\s+qu|comment|lo\s+que|cómo|o\s+que|como|quello|ciò|то|что|как)\b)|\bin\s+json\b|(?:以下|下面|这)是|こちら(?:が|は|です)|여기\s*있|"
    r"\A\W*(?:(?:the|my|malformed)\s+)?(?:(?:tool|function|api|next)[\s_-]*)?(?:calls?|requests?|commands?|actions?|outputs?|responses?|answers?|results?|query|queries|input|json)\W*\Z|"
    r"\A\W*(?:(?:werkzeug|funktions?|tool|api)-?)?(?:aufruf|anfrage|befehl|aktion|ausgabe|antwort|ergebnis)e?\W*\Z|"
    r"\A\W*(?:l['’])?(?:appel|requête|commande|action|sortie|réponse|résultat)s?(?:\s+(?:de|d['’]|à)\s*(?:l['’])?(?:outil|fonction))?\W*\Z|"
    r"\A\W*(?:llamada|petición|orden|acción|salida|respuesta|resultado|chamada|requisição|ação|saída|resposta|chiamata|richiesta|azione|risposta|risultato)"
    r"(?:\s+(?:a|de|da|di|del|alla|dello|à)\s*(?:la\s+)?(?:herramienta|función|ferramenta|função|funzione|strumento))?\W*\Z|"
    r"\A\W*(?:вызов|запрос|команда|действие|вывод|ответ|результат)(?:\s+(?:инструмента|функции))?\W*\Z|"
    r"\A\W*(?:(?:工具|函数)?调用|请求|命令|操作|行动|输出|回答|结果|(?:ツール|関数)?の?(?:呼び出し|コール)|リクエスト|アクション|出力|回答|결과|(?:도구|함수)?\s*호출|요청|작업|출력|응답|답변)\W*\Z|"
    r"\A\W*(?:(?:this|these|that)\s+(?:is|are)|(?:das|dies)\s+(?:ist|sind)|ce\s+(?:est|sont)|est[eao]s?\s+(?:es|son)|est[ae]s?\s+(?:é|são)|"
    r"quest[oaei]\s+(?:è|sono)|это)\b(?!,?\s+(?:what|how|where|was|wie|ce\s+qu|comment|lo\s+que|cómo|o\s+que|como|quello|ciò|то|что|как)\b)|\A\W*(?:这(?:就)?是|これ(?:が|は)|이것(?:이|은))|"
    r"\b(?:answers?|solutions?|results?|calls?|code|command|request|antwort|lösung|ergebnis|aufruf|befehl|réponse|solution|résultat|appel|"
    r"commande|respuesta|solución|resultado|llamada|resposta|solução|chamada|risposta|soluzione|risultato|chiamata|ответ|решение|вызов)\b[^:]{0,40}?\b"
    r"(?:is|are|would\s+be|ist|lautet|est|es|é|è|будет)\W*\Z|(?:答案|结果|调用|答え|結果|回答|정답|결과|호출)(?:是|为|は|은|는)\W*\Z"
)
"""It names what follows as the answer."""
_DOES = (
    r"\A\W*(?:(?:okay|ok|sure|alright|right|great|perfect|fine|yes)\W+)?(?!during|according|regarding|concerning|following|nothing|something|anything|"
    r"everything|king|string|thing|morning|evening|warning|meaning|being|having|wording)\w+ing\b|"
    r"\b(?:I|we)(?:['’](?:m|re))?\s+(?:\w+ly\s+)?(?!\w+ed\b|(?:once|already|also|often|usually|refuse|decline|find|found|saw|see|read|got|get|had|have|was|were|am|are|wrote|write|know|knew|think|thought|"
    r"sent|ran|never|did|do|could|would|might|may|cannot|want)\b)\w+|"
    r"\b\w+(?:aré|eré|iré|amos|emos|imos|remos|arei|erei|irei|erò|irò|iamo|remo)\b|"
    r"(?:\A\W*|[,;]\s+)(?:(?:ya|ahora|te|le|lo|la|os|se|já|agora|lhe|o|a|ora|subito|ti|non|no|yo|eu|io)\s+){0,3}(?!(?:two|who|also|into|demo|repo|info|auto|zero|wo)\b|todo|tudo|tutto|esto|eso|isto|isso|"
    r"questo|quello|como|bajo|utilizzo|model|modell|format|ningun|registo|registr|document|t[ií]t[uo]l|desarroll|ejempl|exempl|esempi)\w{2,}(?<!\w\w[ai]d)o\b|"
    r"\b(?!cuando|quando|comando|demando|segundo|mundo|mondo|secondo)\w{3,}(?:[aá]ndo|[eé]ndo)(?:l[oae]s?)?\b|\ben\s+cours\b|"
    r"\bj['’](?!ai\b|avais\b|aurais\b)\w+|\bje\s+(?:m['’]en\s+)?(?!n['’]|ne\b)\w+(?:e|s)\b|(?:\A\W*|[,;]\s+)\w{3,}ing\s+(?:it|this|that|the)\b|\blo\s+hago\b|"
    r"\b(?:(?!hab|hatt|hätt|wär|würd|könnt|sollt|müsst|möcht|dürft)\w+e\s+(?:ich|wir)|ich\s+(?!hab|hatt|hätt|wär|würd|könnt|sollt|müsst|möcht|dürft)\w+e)\b|"
    r"正在|我(?!看|发|们?注意|收|不|读)|为[您你]|帮[您你]|(?<!れ)(?<!てい)(?<!あり)(?<!なり)ます\W*\Z|ましょう|(?:실행|호출|조회|검색|확인)합니다|겠습니다|할게요|볼게요|드릴게요"
)
"""The speaker does it."""
_HALF = (
    r"\b(?:on|with|by|of|for|at|in|from|to|as|like|about|over|into|upon|through|against|"
    r"von|für|gegen|über|wegen|sur|avec|par|de|à|contre|pour|con|por|en|contra|com|em|para|su|da|di|per|"
    r"на|с|со|от|из-за|о|об|при|в)\Z"
)
"""It stops at a word that something must follow. German ends whole sentences with `an`, `auf`, `durch`, `mit`."""
_SPEAKER = r"\b(?:I|me|we|us|ich|mich|mir|wir|uns|posso|possiamo|puedo|podemos|devo|dobbiamo|debo|debemos|можно|je|moi|nous|yo|me|nos|eu|io|mi|noi|я|мне|мы|нам)\b|\bj['’]|[我咱]|私|僕|ますか|でしょうか|까요"
_QUESTION_MARKS = ("?", "？")  # the full-width one is meant


@cache
def _expression(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


def asks(sentence: str) -> bool:
    """Does it ask whether something is to be run or sent, or what the speaker is to do?"""
    is_question = sentence.rstrip(" \t*_").endswith(_QUESTION_MARKS)
    return is_question and _expression(_OF_CALLS, _SPEAKER).search(sentence) is not None


def says_it_is_now(sentence: str) -> bool:
    """Does it say that the call is made now, or that here it is?"""
    return _expression(_NOW, _ANSWERED).search(sentence) is not None


def speaks_of_calls(sentence: str) -> bool:
    """Does it speak of calls, or point at what follows?"""
    return _expression(_OF_CALLS, _OF_FILES).search(sentence) is not None


def says_it_is_made(sentence: str) -> bool:
    """Does it say that the speaker makes the call, that it is made now or that here it is?"""
    return _expression(_NOW, _ANSWERED, _DOES).search(sentence) is not None


def leaves_open(sentence: str) -> bool:
    """Does it lead in to a call, by a colon or as half a sentence, and say neither that it is made nor that here it is?"""
    if _expression(_HALF).search(sentence) is not None:
        return not says_it_is_made(sentence)
    if not sentence.rstrip(" \t*_").endswith(COLONS):
        return False
    if not speaks_of_calls(sentence):
        return False
    does = () if EXPLAINING.search(sentence) is not None else (_DOES,)
    return _expression(_NOW, _ANSWERED, *does).search(sentence) is None
