"""Sentences that take back what stands before them, by language.

What a first sentence behind a value can say against it: that it is wrong, that it should not be used, that a correction or a second
thought follows, that another value is the right one. (Interjections, a bare `No` and words that put another value in its place are
in `llmcore.types.retraction_words`.) A way of saying it that is missing is one more alternative.
"""

from __future__ import annotations

__all__ = ["BEGINNINGS", "ENDS", "VALUE", "VERDICTS", "WRONG"]

ENDS = r"(?= \s*[.!?,;\u2026\u3002\uff01\uff1f\uff0c)\]*_\u2013\u2014] | [ \t]*\n | \s*:?\s*\Z )"
WRONG = r"""(?: wrong | incorrect | invalid | mistaken | inaccurate | false | erroneous | outdated | an?\s(?:mistake|error|typo)
    | the\swrong\s\w+ | my\s(?:mistake|error) | no\sgood | nonsense | garbage | flawed | bogus | unusable | miscalculated | off(?=\s*(?:[.!,;]|\Z|by\b))
    | (?:not|n['\u2019]t)\s(?:\w+\s)?(?:right|correct|valid|true|accurate|it|what\sI\smeant) | falsch | faux | incorrect[oa]
            | mal )"""

_ABOVE = r"""(?: (?:the|my|that|this)\s (?:(?:above|previous|last|first|prior|earlier|preceding|initial|old|wrong)(?:\s\w+)?
        | (?:answer|result|value|object|json|output|reply|response|number|list)s?(?:\sabove)?)
    | the\sabove | what\sI\s(?:just\s)?(?:said|wrote|gave) | (?:all\s)?(?:of\s)?(?:that|this|it)(?:\s(?:one|answer|value
            |result))? )"""
VALUE = r"""(?=["'`\u201c{\[\d*-] | true\b | false\b | null\b)"""
_AGAIN = r"""(?: correct | fix | redo | revise | rethink | reconsider | rephrase | re-?(?:compute|calculate|count|do|check
            |verify|evaluate|examine
        |assess|write|state|run|work|start|read|analy[sz]e|visit) | try\s(?:(?:that|this|it)\s)?(?:again|once\smore|anew)
    | start\s(?:over|again) | do\s(?:that|this|it)\s(?:again|over) | double[- ]check | check\s(?:that|this|it|again)
    | think\s(?:again|about\sthat) | look\sagain | change\sthat )"""

VERDICTS: dict[str, str] = {
    "en": r"""wrong(?:\s(?:answer|one|value|result|again))? | incorrect | false | nope | mistake | error | err | invalid
        | not\s(?:quite\s|at\sall\s)?(?:right|correct|true|that|this|it|so\sfast)(?:\sone)? | my\s(?:mistake|bad|error|fault)
        | (?:scratch|strike|disregard|ignore|cancel(?:led)?|retract(?:ed)?|undo|discard) | I\smeant | I\stake\sthat\sback
        | typos? | (?:a\s)?misprint | nonsense | rubbish | bogus | erratum | inaccurate | void | revoked | withdrawn | rejected
        | correction(?:\s(?:needed|required|necessary|follows|below|coming(?:\sup)?))? | retraction | miscalculated | miscounted | misread
        | (?:not|no\slonger)\s(?:valid|accurate|good|usable|right\sat\sall) | (?:bad|off)(?:\sby\s\w+)? | (?:bad|poor|mistaken|invalid)\s(?:answer|value|result|one) | (?:please\s)?(?:do\snot|don['\u2019]t)\s(?:use|trust|send|submit)
        | (?:second|other)\sthoughts? | take\stwo | start\sover | revoke | retract | delete | nix | my\sapologies""",
    "de": r"""falsch | fehler | irrtum | quatsch | unsinn | stimmt\s(?:so\s)?nicht | doch\snicht | nicht\s(?:das|diese[rs]?
            |richtig|korrekt)
        | falsche?\s(?:antwort|zahl|angabe|wert) | ungültig | ungenau | unrichtig | inkorrekt | nicht\s(?:gültig|ganz\s(?:richtig|korrekt)|so|gut|mehr\sgültig)
        | (?:(?:ein|mein)\s)?(?:tipp|schreib|rechen|denk)?fehler | mist | blödsinn | verrechnet | vertippt | verzählt | verschrieben | geirrt
        | mein\s(?:irrtum|versehen) | (?:bitte\s)?nicht\s(?:verwenden|benutzen|nutzen|beachten|senden|nehmen|übernehmen) | verworfen | widerrufen | zurückgezogen
        | korrektur(?:\s(?:nötig|erforderlich|notwendig|folgt))? | berichtigung | zurück | streichen | verwerfen | ignorieren | vergessen""",
    "fr": r"""faux | erreur | incorrect | inexact | pas\s(?:ça|celui-là|celle-là|cela) | mon\serreur
        | inexacte? | erronée? | invalide | (?:c['\u2019]est\s)?raté | (?:faute|erreur)\s(?:de\s(?:frappe|calcul)|d['\u2019]\w+) | mauvaise?\s(?:réponse|valeur|résultat)
        | pas\s(?:correct|exact|juste|bon|valide|vrai|du\stout|tout\sà\sfait) | (?:à\s)?ne\spas\sutiliser | annule[zr]? | oublie[zr]? | ignore[zr]? | efface[zr]? | laisse[zr]?\stomber
        | correction\s(?:nécessaire|requise) | coquille | n['\u2019]importe\squoi""",
    "es": r"""incorrecto | equivocado | error | falso | mal | est[ae]\sno | es[ae]\sno | mi\serror | mentira
        | incorrecta | equivocada | err[óo]ne[oa] | inválid[oa] | falsa | no\ses\s(?:válid[oa]|exact[oa]) | (?:no\s)?(?:válido|vale) | error\s(?:mío|de\s\w+)
        | errata | (?:por\sfavor\s)?no\s(?:lo\s|la\s)?(?:us[ae]r?(?:lo|la)?|utilice[ns]?|utilizar) | anul(?:ar|ado|[ae]) | olvídalo | me\sretracto | corrección(?:\snecesaria)? | tonterías""",
    "it": r"""sbagliato | errato | errore | falso | scorretto | non\s(?:quello|quella|questo|questa|così) | mio\serrore
            | ho\ssbagliato
        | sbagliata | errata | inesatt[oa] | invalid[oa] | non\s(?:valid[oa]|corrett[oa]|esatt[oa]|va\sbene|usare|usarlo|utilizzare) | refuso | errore\s(?:mio|di\s\w+)
        | annulla(?:re|te)? | ignora(?:re|te)? | scarta(?:re|te)? | lascia\sstare | ritiro | sciocchezze | correzione(?:\snecessaria)?""",
    "pt": r"""errado | incorreto | erro | falso | ess[ea]\snão | não\s(?:ess[ea]|isso) | meu\serro | errei | (?:ops|opa)
        | errada | incorreta | inválid[oa] | inexat[oa] | não\s(?:válid[oa]|está\sbom|use|usar|utilize|utilizar) | erro\s(?:meu|de\s\w+) | engano(?:\smeu)? | anul[ae]r? | cancel[ae]r?
        | ignor[ae]r? | descart[ae]r? | apag[au]e?r? | correção(?:\snecessária)? | retiro | besteira""",
    "ru": r"""неверно | неправильно | не\s?верно | ошибка | не\sто | не\sтак | не\s(?:этот|это|эта|тот) | моя\sошибка
            | неправда
        | неверн(?:ый|ая|ое)\s(?:ответ|значение|результат) | недействительно | (?:ответ|значение|результат|число)\s(?:неверн|неправильн|ошибочн)(?:ый|ая|ое|ый|о) | некорректно | неточно | опечатка | ерунда | чушь | ошибочка | не\sгодится | не\sиспользовать
        | (?:пожалуйста,?\s)?не\s(?:используй|бери|отправляй)(?:те)? | отмена | отбой | зачеркни(?:те)? | ложь | виноват[а]? | промах | поправка | исправление""",
    "zh": r"""错 | 錯 | 错误 | 錯誤 | 不是(?:这个|那个|這個|那個)
        | (?:这|那|它|這|上面|以上|刚才)?(?:个|個)?(?:的)?(?:答案|结果|結果|数字|值)?(?:是|有)?(?:错|錯|误|誤|错误|錯誤|错的|錯的|假的|有误|有誤|有错|有錯|有问题|无效|無效|不准确|不準確|不成立|不算|作废|作廢)的?
        | 算了 | 作废 | 无效 | 笔误 | 筆誤 | 口误 | 打错了? | 看错了? | 记错 | 搞错 | 请?(?:勿|别|不要|不用)(?:再)?(?:使用|采用|用|采纳|理会)(?:它|这个|这个值|该值)? | 收回 | 我收回(?:这|那)?.{0,4} | 不好意思 | 失误 | 我的(?:错|失误|疏忽)""",
    "ja": r"""誤り | 違う | それじゃない | ミスです
        | (?:これ|それ|この(?:値|答え|結果|回答)|上記|上)?(?:は|が)?(?:正しく(?:ない|ありません|なかった)|正確ではありません|無効|不正確|嘘|誤りです|ミス|間違い|ダメ|だめ|違いますね|使えません)(?:です|でした|だ|だった)?
        | (?:やっぱり|やはり)?(?:なし|無し|だめ|やめ(?:ます)?|違う|違います|取り消します)(?:で|です|にします)? | 誤字(?:です)? | タイプミス(?:です)? | 計算ミス(?:です)? | 失敗(?:しました)? | ボツ(?:です)?""",
    "ko": r"""오류 | 실수 | 그게\s?아니[\w]*
        | 오타(?:입니다|예요|네요)? | 무효(?:입니다)? | 착오(?:입니다|였습니다)? | (?:정확하지|올바르지|유효하지|맞지|옳지)\s?않(?:습니다|아요|네요|다) | 거짓(?:입니다)? | 계산\s?(?:착오|실수|오류)(?:입니다|네요)?
        | (?:이건|그건|이\s?값은|그\s?값은)?\s?잘못(?:되었|됐)(?:습니다|어요) | (?:이건|그건|이\s?값은|그\s?값은)?\s?(?:사용하지|쓰지|보내지)\s?(?:마세요|마십시오|말아\s?주세요|마) | 철회(?:합니다|할게요)? | 됐(?:어요|습니다) | 엉터리(?:네요|입니다)?""",
}
"""They take something back where they are all that is said."""

BEGINNINGS: dict[str, str] = {
    "en": rf"""(?:you\s(?:can|should|may|must)\s)? (?:scratch|strike|cancel|forget|ignore|disregard|discard|drop|delete
            |retract|undo|nix|withdraw
            |(?:do\snot|don['\u2019]t|never)\s(?:use|trust|take|send|submit|rely\son))\s(?:about\s)?{_ABOVE} \b
        | never\s?mind \b | (?:updated?|edit(?:ed)?|better|fixed|revised|corrected|actually|rather|no)\s?:\s*\Z | I\s(?:actually\s|really\s)?meant\b (?!\sto\b) | on\ssecond\sthoughts? \b
            | correction\s*:(?!\s*(?:none|no)\b)
        | I\s(?:made\san?\s(?:\w+\s)?(?:mistake|error|typo)|was\s(?:wrong|mistaken)|mis\w+(?!\s(?:nothing|none|no\b))|(?:take|took)\s(?:that|it)\sback
            |stand\scorrected
            |got\s(?:that|it|this)\s(?:\w+\s)?wrong|messed\s(?:that\s|it\s)?up|erred|retract|withdraw|correct\smyself) \b
        | (?:I\s(?:apologi[sz]e|am\ssorry)|I['\u2019]m\ssorry|(?:my\s)?apologies)\s(?:for|about)\s(?:the|that|my
            |this)\s(?:\w+\s)?(?:mistake|error|confusion|mix-?up) \b
        | (?:let\sme|let['\u2019]?s|I(?:['\u2019]ll|\swill|\sshould|\smust|\sneed\sto|\shave\sto|\swant\sto)|we\s(?:need
            |have)\sto)\s(?:just\s|first\s|quickly\s)?{_AGAIN} \b
        | {_ABOVE}\s(?:can(?:not|\snot|['\u2019]t)|could\s?(?:not|n['\u2019]t))\sbe\b
        | {_ABOVE}\s(?:does|did|can|do)(?:\s?not|n['\u2019]t)\s(?:fit|match|work|look\sright|seem\sright|add\sup|make\ssense
            |hold|be\sright)\b
        | (?!this\b[^.\n:]{{0,50}}:\s*\S){_ABOVE}(?:\s(?:is|was|are|were|looks|seems)|['\u2019]s|(?=\s(?:is|was|are
            |were)n))\s(?:(?!not)\w+\s)?(?:is|was)?{WRONG}\b
        | {_ABOVE}(?:\s(?:is|was|are)|['\u2019]s)\s(?:(?:only|just|merely|purely
            |simply)\s)?(?:meant\sas\s)?(?:an?\s)(?:\w+\s)?(?:example|placeholder|template|sample
            |illustration|mock-?up|dummy)\b (?![^.\n:]{{0,30}}:\s*\S)
        | (?:it|that|this|{_ABOVE})\s(?:really\s|actually\s)?(?:should|ought\sto|must)\s(?:be|have\sbeen|read)\s(?:{VALUE}
            |instead\b)
        | (?:it|that)\s(?:is|['\u2019]s)\s(?:really|actually|rather)\s{VALUE}
        | (?:please\s)?(?:do\snot|don['\u2019]t|never)\s(?:use|trust|take|send|submit|rely\son)\s(?:this|that|it|the)(?=\s*[.!\n]|\s*\Z)
        | (?:revoke|void|reject|remove|erase|skip|undo|retract|withdraw|correct|fix|replace)\s{_ABOVE} (?= \s*[.!,;\u2014\n] | \s*\Z )
        | (?:edit|update|updated|correction|corrected|corrigendum|erratum|errata|fix|fixed|revision|revised|amendment|note)\s?\d?\s?[:\u2014-]\s(?:sorry,?\s|no,?\s|actually,?\s)?
            (?: (?:it|that|this|{_ABOVE}|the\s(?:right|correct|real|actual|true)\s\w+)(?:\s(?:is|was|should\sbe|must\sbe|ought\sto\sbe)|['\u2019]s)\s(?:{VALUE}|{WRONG}) | (?:should|must|ought\sto)\s(?:be|read)\b | {WRONG}{ENDS} | {VALUE} )
        | (?:make|call)\s(?:that|it)\s(?:{VALUE}|an?\s(?=\d)) | I\s(?:really\s|actually\s)?(?:mean|meant),?\s{VALUE} | (?:should|ought\sto|must)\s(?:be|read|have\sbeen)\s(?:{VALUE}|instead\b)
        | (?:that|this|it|{_ABOVE})\s(?:is|was|looks|seems)\s(?:way\s|slightly\s|a\sbit\s|clearly\s|still\s|also\s)?{WRONG}{ENDS} | (?:that|this|it)['\u2019]s\s(?:clearly\s|a\sbit\s)?off{ENDS}
        | (?:a|there\s(?:is|was)\san?|there['\u2019]s\san?|contains?\san?|I\s(?:see|found|spotted|notice)\san?)\s(?:typo|mistake|error)\b(?!\s(?:code|message|handl|rate|margin|term)) (?=[^.!?\n]{{0,30}}(?:above|there|here|that|this|my|it)\b|\s*[.!]|\s*\Z)
        | (?:I\s)?(?:need|have|ought|want)\sto\s(?:correct|revise|retract|fix|redo)\b | I\s(?:must|should|have\sto)\s(?:correct|revise|retract|fix|redo|withdraw)\b
        | (?:thinking|looking)\s(?:about\s(?:it|this|that)\s)?(?:again|twice|more\scarefully|closer)\b | I\s(?:changed\smy\smind|got\s(?:it|that|this)\swrong|spoke\stoo\ssoon|slipped|goofed|mixed|overlooked|confused|forgot\s(?:to|about|that))\b
        | (?:that|this)\s(?:was|is)\s(?:supposed|meant)\sto\sbe\b | a\scorrection\s(?:is|follows)\b | (?:strike|cancel|scratch|drop)\s(?:it|this|that)\b
        | (?:the\s)?(?:right|correct|real|actual|true)\s(?:answer|value|result|one|number|output)\s(?:is|was|would\sbe|should\s(?:be|have\sbeen))\s(?:actually|really|instead|in\sfact)\b""",
    "de": rf"""(?:vergiss|vergessen\sSie|ignoriere?|ignorieren\sSie|streiche?|streichen\sSie|verwirf
            |verwerfen\sSie)\s(?:bitte\s)?(?:das|dies|es|die|den)\b
        | ich\s(?:meinte|korrigiere|nehme\sdas\szurück|habe?\s(?:mich\s)?(?:geirrt|vertan|verrechnet|verzählt|einen\sFehler)
            |lag\sfalsch) \b
        | ich\shabe\smich\s(?:geirrt|vertan|verrechnet|verschrieben) \b | mein\sFehler \b | Korrektur\s*:
            | Korrektur\b(?=\s*[.!]?\s*\Z)
        | (?:das|es|dies)\s(?:stimmt|passt)\s(?:\w+\s)?nicht \b | (?:das|es|dies)\skann\s(?:so\s)?nicht\b | vertan\b
        | (?:das|dies|die\sAntwort|das\sObige)\s(?:ist|war)\s(?:\w+\s)?(?:falsch|nicht\s(?:richtig|korrekt|das)
            |ein\s(?:Fehler|Irrtum)|(?:nur\s)?ein\sBeispiel)\b
        | (?:das|es)\s(?:sollte|müsste|muss)\b[^.\n]{{0,30}}\b(?:sein|heißen|lauten)\b | richtig\s(?:ist|wäre)\b
        | lass(?:t|en\sSie)?\smich\s(?:\w+\s){{0,3}}(?:neu|nochmal|noch|nochmals|korrigieren|nachrechnen|überdenken|prüfen)\b
        | (?:bitte\s)?(?:das|dies|es|den\s\w+|die\s\w+)?\s?(?:bitte\s)?nicht\s(?:verwenden|benutzen|nutzen|beachten|übernehmen|nehmen)\b | (?:verwende|benutze|nimm|nutze|beachte)(?:n\sSie)?\s(?:bitte\s)?(?:das|dies|es|die|den)\s(?:\w+\s)?(?:bitte\s)?nicht\b
        | ich\s(?:muss|möchte|will|sollte|darf)\s(?:mich|das|dies|es|meine\s\w+|die\s\w+)\s(?:\w+\s)?(?:korrigieren|berichtigen|verbessern|revidieren|zurücknehmen|zurückziehen|ändern)\b
        | ich\s(?:widerrufe|nehme\s(?:das|es|dies)\szurück|ziehe\s(?:das|es|dies)\szurück|berichtige|revidiere|verbessere\smich|meine?\s(?:natürlich\s|eigentlich\s)?{VALUE}|rechne\s(?:\w+\s)?(?:neu|nach|nochmal|noch\seinmal))
        | (?:da|hier|mir)\s(?:ist|war|habe\sich)\s(?:\w+\s){{0,3}}(?:fehler|irrtum|versehen)\b | (?:es|das|dies)\s(?:ist|sind)\s(?:eigentlich|doch|richtig|vielmehr|natürlich)\s{VALUE} | (?:das|dies|es|die\s\w+|der\s\w+)\s(?:ist|war|sind)\s(?:leider\s|so\s|aber\s)?(?:ungültig|falsch|fehlerhaft|unrichtig|inkorrekt|verkehrt|nicht\s(?:gültig|richtig|korrekt))\b
        | (?:noch\s?mal|noch\seinmal)(?:\s(?:von\svorne?|neu))?{ENDS} | (?:widerrufe|verwirf|streiche?|lösche?)(?:n\sSie)?\s(?:das|dies|es)\b | (?:berichtigung|richtigstellung|korrigiert)\s?:""",
    "fr": rf"""(?:oublie|ignore|annule|laisse|supprime)[zr]?(?:[\s-](?:ça|cela|ceci|la|le|les|ce|tomber|moi\stomber)\b)
        | je\s(?:voulais\sdire|me\ssuis\stromp|me\scorrige|me\sreprends|corrige|retire|rectifie)
            | j['\u2019]ai\s(?:fait\sune\serreur|eu\stort|mal\s\w+) | (?:mon\serreur|ma\sfaute)\b
        | c['\u2019]\s?(?:est|était)\s(?:\w+\s)?(?:faux|incorrect|inexact|une\serreur|pas\s(?:ça|juste|correct|bon|exact)
            |(?:juste\s|seulement\s)?un\sexemple)\b
        | ce\sn['\u2019]est\s(?:pas\s(?:ça|juste|correct|bon|exact|cela)|qu['\u2019]un\sexemple)\b | (?:ça|cela)\sne\s(?:peut
            |va|marche|colle)\b
        | laisse[zr]?-moi\s(?:le\s)?(?:recalculer|corriger|refaire|réessayer|reprendre|recommencer|vérifier|revoir)\b
        | (?:je\svais|je\sdois)\s(?:recalculer|corriger|refaire|réessayer)\b | (?:ça|cela|ce)\sdevrait\sêtre\b
            | (?:correction|rectification)\s*:(?!\s*(?:none|no|aucune)\b) | en\sfait,?\snon\b
        | (?:veuillez\s|merci\sde\s)?ne\s(?:pas\s)?(?:ten(?:ez|ir|s)|utilis(?:ez|er|e)|pren(?:ez|ds|dre)|consid[éè]r(?:ez|er|e)|garde[zr]?)\s(?:pas\s)?(?:compte\s)?(?:de\s|en\scompte\s)?(?:cela|ça|ceci|ce\s\w+|cette\s\w+)\b | n['\u2019]utilise[zr]?\spas\b
        | ne\s(?:l['\u2019]|le\s|la\s)utilise[zr]?\spas\b | je\s(?:dois|vais|veux|voudrais|tiens\sà)\s(?:me\s|le\s|la\s)?(?:corriger|reprendre|rectifier|recommencer|refaire|revoir|recalculer)\b
        | je\s(?:veux\sdire|recommence|reprends|recalcule|refais|retire|annule|révise|me\srétracte)\b | je\sme\s(?:trompe|suis\s(?:trompé|mal\s\w+|emmêlé)e?)\b | c['\u2019]est\s(?:plutôt|en\sfait)\s{VALUE} | il\sfaut\slire\b
        | (?:cela|ça|ceci|cette\s\w+|la\s(?:valeur|réponse)|ce\s\w+|il\sy\sa)\s(?:est|a|une)\s(?:\w+\s)?(?:fausse?|faux|erronée?|incorrecte?|inexacte?|invalide|erreur)\b | il\sy\sa\sune\s(?:erreur|faute)\b""",
    "es": rf"""(?:olv[ií]d|ignór|descárt|cancél|bórr)[ae]l[oa]s?\b | (?:olvid[ae]|ignor[ae]|descart[ae]|cancel[ae]
            |borr[ae])\s(?:eso|esto|lo|la|el)\b
        | me\s(?:he\s)?(?:equivoqu[eé]|equivocado|confund\w+|corrijo) | (?:quise|quería)\sdecir\b | (?:mi|fue\sun
            |es\sun)\serror\b
        | (?:eso|esto)\s(?:no|está\smal|es\s(?:incorrecto|falso|un\serror|(?:solo\s|sólo\s)?un\sejemplo))\b
            | no\ses\s(?:correcto|eso|así|cierto)\b
        | (?:d[eé]ja|déje|permíte|permíta)me\s(?:corregir|recalcular|rehacer|revisar|intentar|reintentar|verificar)\w*\b
            | (?:correcci[oó]n|rectificaci[oó]n)\s*: | (?:rectifico|corrijo)\b
        | (?:eso\s|esto\s)?deber[ií]a\sser\b | es\ss[oó]lo\sun\sejemplo\b
        | (?:por\sfavor,?\s)?no\s(?:lo\s|la\s|los\s)?(?:us(?:e|es|en)|utilic(?:e|es|en)|teng[ao]s?\sen\scuenta|tomes?|considere[s]?|env[íi]es?)\s?(?:eso|esto|es[ae]\s\w+|est[ae]\s\w+|el|la)?(?={ENDS}|\s(?:eso|esto|en\scuenta))
        | (?:tengo\sque|debo|necesito|quiero|voy\sa|permítanme|déjenme)\s(?:\w+\s)?(?:corregir|rectificar|recalcular|rehacer|revisar|retractar)\w*\b | (?:quiero\sdecir|digo),?\s{VALUE} | (?:en\srealidad\s)?(?:es|son)\s(?:más\sbien|en\srealidad)\s{VALUE}
        | (?:la|el|esta|este|ese|esa)\s(?:respuesta|valor|resultado|número|anterior|dato)(?:\santerior)?\s(?:es|está|era)\s(?:\w+\s)?(?:incorrect[oa]|equivocad[oa]|err[óo]ne[oa]|mal|fals[oa]|inválid[oa])\b | es\s(?:incorrect[oa]|falso|err[óo]neo|un\serror)\b
        | (?:hay|tiene|cometí|he\scometido)\sun\s(?:error|fallo)\b | me\s(?:retracto|confundí|he\sconfundido|corrijo)\b | (?:está|estaba)\smal\b""",
    "it": rf"""(?:dimentic|ignor|annull|cancell|scart)(?:a|ate|i)(?:l[oa])?(?:\s(?:quello|questo|la|il|ciò|quanto))?\b
            | lascia\s(?:perdere|stare)\b
        | mi\s(?:correggo|sono\ssbagliat\w|sbaglio|ero\ssbagliat\w)\b | ho\s(?:sbagliato|fatto\sun\serrore
            |commesso\sun\serrore)\b | (?:volevo\sdire|intendevo)\b
        | (?:questo\s|quello\s)?non\s(?:è\s(?:corretto|giusto|così|vero|quello)|può\sessere)\b | (?:questo\s|quello\s)?(?:è
            |era)\s(?:sbagliato|errato|un\serrore|(?:solo\s)?un\sesempio)\b
        | (?:fammi|lascia(?:te)?mi)\s(?:ricalcolare|correggere|riprovare|rifare|ricontrollare|rivedere)\b | correzione\s*:
            | dovrebbe\sessere\b
        | (?:per\sfavore,?\s)?non\s(?:lo\s|la\s)?(?:us(?:are|ate|i|arlo)|utilizz(?:are|ate|i)|considerar[el]\w*|consider(?:i|ate)|tenere\sconto|tener\sconto)\b | (?:devo|vorrei|voglio|dovrei|lascia\sche|permettimi\sdi)\s(?:mi\s)?(?:corregg|rettific|rivedere|rifare|ricalcol|ricominci)\w*\b
        | (?:voglio\sdire|intendo|volevo\sscrivere|dico),?\s{VALUE} | (?:ricomincio|ricalcolo|rifaccio|rettifico|ritratto|mi\sritratto|mi\ssono\sconfus[oa])\b | (?:la|il|questa|questo|quella|quello)\s(?:risposta|valore|risultato|numero|dato)(?:\sprecedente)?\s(?:è|era)\s(?:\w+\s)?(?:sbagliat|errat|falso|falsa|scorrett|invalid|non\scorrett)\w*
        | c['\u2019]è\sun\s(?:errore|refuso)\b | (?:è|era)\s(?:invece|in\srealtà|piuttosto)\s{VALUE} | (?:rettifica)\s?:""",
    "pt": rf"""(?:esque[cç][ae]|ignor[ae]|descart[ae]|cancel[ae]|desconsider[ae]|apagu?[ae])\s(?:isso|isto|o|a|essa|esse)\b
            | (?:esque[cç]a|ignore|desconsidere)(?=\s*[.!])
        | deixa\s(?:pra|para)\slá\b | me\s(?:enganei|corrijo)\b | enganei-me\b | corrigindo\b | errei\b | cometi\sum\serro\b
            | (?:quis|queria)\sdizer\b
        | (?:isso|isto)\s(?:não|está\serrado|é\s(?:um\serro|falso|(?:só|apenas)\sum\sexemplo))\b | não\s(?:é|está)\s(?:isso
            |certo|correto|assim)\b | não\spode\s(?:ser|estar)\b
        | (?:deixe-me|me\sdeixe|deixa\seu|vou)\s(?:recalcular|corrigir|refazer|tentar|verificar|rever)\b | (?:correção
            |retificação)\s*: | (?:isso\s)?(?:deveria|devia)\sser\b
        | (?:por\sfavor,?\s)?não\s(?:o\s|a\s)?(?:use[ms]?|utilize[ms]?|considere[ms]?|leve[ms]?\sem\sconta)\b | (?:preciso|devo|tenho\s(?:que|de)|quero|deixe\seu|vou)\s(?:me\s)?(?:corrigir|retificar|recalcular|refazer|rever|retratar)\w*\b
        | (?:quero\sdizer|digo),?\s{VALUE} | (?:a|o|essa|esse|esta|este)\s(?:resposta|valor|resultado|número|anterior)(?:\santerior)?\s(?:é|está|estava|era)\s(?:\w+\s)?(?:errad|incorret|falso|falsa|inválid)\w*
        | (?:está|estava)\s(?:errad|incorret)[oa]\b | (?:há|tem|cometi|houve)\sum\s(?:erro|engano)\b | (?:retifico|corrijo|recalculando|me\sconfundi|me\sretrato)\b | (?:é|são)\s(?:na\sverdade|aliás)\s{VALUE}""",
    "ru": rf"""(?:забудь|игнорируй|проигнорируй|отмени|вычеркни|не\sучитывай|не\sобращай|не\sиспользуй)(?:те)?\b
            | я\s(?:ошиб|перепутал|оговорил|неправ|был\sнеправ|поправлюсь)\w*
        | (?:я\s)?имел[аи]?\s(?:в\sвиду)\b | (?:поправка|исправление)\b(?!\sне) | (?:исправляюсь|поправлюсь|исправлю
            |пересчитаю|перепроверю)\b | (?:вернее|точнее)\s*[,:\u2014]
        | (?:это|здесь|тут)\s(?:\w+\s)?(?:неверно|неправильно|ошибка|не\s(?:так|то|верно|правильно|может)|неправда|(?:только
            |лишь|просто)\sпример)\b | (?:так\s)?не\sможет\sбыть\b
        | (?:это\s|тут\s)?должно\sбыть\b | (?:дай|позволь|давай)(?:те)?\s(?:мне\s)?(?:я\s)?(?:пере|исправ|подума|попроб)\w*
        | (?:пожалуйста,?\s)?не\s(?:используй|учитывай|бери|принимай|отправляй)(?:те)?\b | (?:мне\s)?(?:нужно|надо|придётся|следует|хочу|должен|должна|я\sдолжен|я\sдолжна)\s(?:\w+\s)?(?:исправ|поправ|пересч|передел|перепров|уточн)\w+
        | (?:я\s)?(?:имею\sв\sвиду|хотел[аи]?\sсказать|говорю),?\s{VALUE} | (?:этот|эта|мой|предыдущий|прошлый)\s(?:\w+\s)?(?:ответ|результат|число|значение|вариант)?\s?(?:был[ао]?\s)?(?:невер|неправиль|ошибоч|недействитель|некоррект)\w* | (?:здесь|тут|у\sменя|в\sответе|допустил[аи]?|я\sдопустил[аи]?)\s(?:ошибка|опечатка|ошибку|опечатку)\b
        | я\s(?:запутал|просчитал|ошибал|описал|оговорил|поторопил)\w* | (?:беру|забираю)\s(?:свои\s)?слова\sобратно\b | (?:на\sсамом\sделе\s)(?:это\s)?{VALUE}""",
    "zh": r"""(?:忽略|无视|無視|忘记|忘記|忘掉|忘了|取消|作废|作廢|撤回|撤销|撤銷|不要(?:用|使用)|别用)(?!以下|下面|空)
        | (?:等等|等一下) | (?:这|那|上面|以上|刚才|答案|結果|结果|這|剛才)?(?:的)?(?:答案|结果|結果)?(?:个|個)?(?:是
            |有)?(?:不对|不對|不正确|不正確|错了|錯了|错误的|錯誤的|不可能)(?!吗)
        | (?:我|刚才|剛才)?(?:写|算|说|弄|搞|寫|說)(?:错|錯) | 我错了 | 我錯了 | (?:这|那|它|這)?(?:应该|應該)是 | (?:应
            |應)为 | 我(?:的意思)?(?:是(?:说|說|指))
            | (?:更正|纠正|糾正|修正|改正)(?:一下|[:\uff1a,\uff0c。]|\Z)
        | (?:让我|讓我|我来|我再)(?:重新|再|重|改|纠|更) | (?:这|以上|上面|這)?(?:只|仅|僅)(?:仅)?是(?:一)?(?:个|個)?(?:示例
            |例子|範例) | 不是(?:这|那|這)个 | 说错了
        | (?<=[\uff0c,、])是(?=\s?\d) | 我(?:的意思|想说的|要说的|指的)?是(?:说|說|指)?(?=[\s\d"\u201c]) | (?:请|請)?(?:不要|别|勿)(?:再)?(?:使用|采用|用|管|理会|参考)(?:这|那|它|上面|该|之前|\Z|[。!\uff01]) | (?:我|这里|刚才|上面)?(?:需要|得|要|必须|应当|想)(?:更正|纠正|糾正|修正|改正|订正|重算|重新|收回)
        | (?:这|那|上面|以上|刚才|之前)(?:个|的)?(?:答案|结果|数字|值|内容|回答)?(?:是|有|里有)?(?:错|錯|误|誤|问题|不对|假的|无效) | (?:计算|拼写|输入|格式)(?:有误|错误|失误|错了) | 有误 | 我(?:弄|搞|看|记|理解|算|打|想)?(?:错|錯|混)了 | (?:答案|结果|数字)?(?:其实|实际上|应该|應該|应)(?:是|为)(?=[\s\d"\u201c]|\w)""",
    "ja": r"""間違(?:い|え|って)(?!は?(?:あり|な(?:い|く)|ござ)) | 違います | 違いました | 誤りでした | 訂正(?!は(?:あり|な|ござ)) | 忘れて
            | 無視して | 取り消し | 撤回 | 正しくは | (?:ではなく|じゃなくて)
        | (?:先ほど|上記|さっき|今|前)の?[^。\n]{0,10}(?:忘れ|無視|取り消|間違|誤り|違い|違う) | (?:計算|考え
            |やり)(?:し)?(?:直し|なおし) | もう一度(?:計算|考え|やり|確認)
        | (?:それ|これ)は(?:正しくない|正しくあり|おかしい|違|間違|誤|(?:ただの|単なる|あくまで)) | おかしい | はずがない
            | (?:ただの|単なる|あくまで)例
        | [^。\n、]{0,12}(?:のつもり|と言いたかった|と言うつもり|と書きたかった|の間違い|の誤り|ではありません(?=[。\n]|\Z))(?!は?あり) | (?:使わないで|使用しないで|採用しないで|送らないで|使用不可|お使いにならないで) | (?:これ|それ|この\w{1,4}|その\w{1,4}|上記|上の\w{1,4})(?:は|を|も)[^。\n]{0,6}(?:使わない|使用しない|無効|正しく(?:ない|あり)|取り消|撤回|誤り|間違)
        | (?:訂正|修正|撤回|取り消|やり直|計算し直|考え直|書き直)(?:し|させ|す|さ) | (?:答え|結果|値|回答)(?:は|が)(?:間違|違|誤|正しく(?:ない|あり)) | 勘違い | 見間違 | 計算を(?:間違|誤) | 本当は | 実際は""",
    "ko": rf"""정정 | 틀렸 | 틀린(?!\s?것은?\s?없) | 잘못(?!된\s?것은\s?없|이\s?없) | 아니(?=요(?!,?\s?없)|에요|야|[\s,.!\u2026]|\Z)
            | 잠깐 | (?:방금|위
            |앞|이전|그)[^.\n]{{0,10}}(?:잊|무시
            |취소|틀|잘못|아니) | 잊어 | 무시해 | 무시하 | 취소(?!된|되)
        | (?:제|내)?\s?실수(?:했|입|예|였) | 다시\s?(?:계산|생각|확인|해) | 제\s?말은 | (?:그건|그게|이건|이게)\s?(?:아니|틀
            |잘못|맞지) | 맞지\s?않 | 옳지\s?않
            | (?:예시|예)일\s?뿐
        | [^.\n,]{{0,14}}(?:말하려|말하고\s?싶|쓰려고|의도했|뜻이었|의미였|말이었) | (?:제가|내가|이게|그게|답이|결과가|이\s?값이|값이|이\s?답은|위의?\s?\w{{1,4}}[은이])\s?(?:또\s?|잘못\s?)?(?:틀렸|틀린|잘못|실수|착각|오해|맞지|옳지|정확하지) | (?:사용하지|쓰지|참고하지|보내지)\s?(?:마|말)
        | (?:정정|수정|철회)(?:이\s?필요|해야|하겠|할게|합니다|해\s?드리) | 착각했 | 오타 | 잘못\s?(?:봤|썼|적|계산|말|이해|입력) | (?:사실은|실은|원래는)\s{VALUE} | (?:올바른|맞는|정확한)\s?(?:답|값)은""",
}
"""A sentence that begins with them takes back what stands before it."""
