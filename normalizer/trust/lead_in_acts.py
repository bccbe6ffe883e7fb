"""What tells an act of the speaker from a sentence about calls, as regular expressions: a row a language.

`trust.told_lead_ins` says what they decide. Fifteen languages; where a row's words are ambiguous they are left out, for a call whose
lead-in nobody understands is made as it stands.
"""

from __future__ import annotations

__all__ = [
    "ACTS",
    "ASKS",
    "CONSENTS",
    "DENIALS",
    "ELSEWHERE",
    "EXPECTED",
    "FORBIDDING",
    "FUNCTION_WORDS",
    "HERE",
    "LEFT_OPEN",
    "MAYBE",
    "MODELS",
    "RECALLED",
    "REFUSING",
    "REPLIES",
    "SO",
    "SUPPOSED",
    "TELLS",
    "WAITS",
]

_NOT_EN = (
    r"(?!\w+ed\b|(?:ve|d)\b|(?:already|also|once|last|recently|previously|originally|actually|still|never|not|often|usually|refuse|decline|find|found|saw|see|read|get|got|had|have|was|"
    r"were|am|wrote|write|know|knew|think|thought|sent|ran|did|do|don|didn|wouldn|couldn|could|would|might|may|cannot|want|wish|hope|remember|recall|believe|guess|suspect|assume|mean|meant|said|say|told|"
    r"took|made|keep|kept|came|come|noticed|understand|understood|like|love|prefer|ask|quote|cite|gave|put|built|asked|and|or|but|learned|teach|taught|wonder|doubt|hate|"
    r"notice|observe|encounter|hit|receive|caught|typed|tell|am\s+not)\b)"
)
_NOT_DE = r"(?!hab|hatt|hätt|wär|würd|könnt|wollt|sollt|müsst|möcht|dürft|war|wurd|sah|les|find|glaub|denk|mein|vermut|kenn|erinner|frag|zitier|(?!(?:\w{0,5}start|\w{0,3}schalt|test|leit|\w{0,4}arbeit|\w{0,4}antwort|wart|halt|\w{0,3}richt|verwalt)e\b)\w+te\b|nicht|nie)"
ACTS: dict[str, str] = {
    "en": rf"\b(?:I|we)['’]ll\b(?!\s+(?:not|never))|\b(?:I|we)\s+(?:\w+ly\s+|now\s+|just\s+|first\s+|then\s+|therefore\s+)?{_NOT_EN}\w+|\b(?:I|we)['’](?:m|re)\s+(?!not\b|afraid\b|sorry\b|unable\b)(?:\w+ly\s+|now\s+|just\s+)?\w+(?:ing|to)\b|"
    r"\A\W*(?:(?:now|okay|ok|sure|alright|right|great|perfect|fine|yes|understood|done|so|got\s+it|thanks|then|first|next|and|currently)\W+)*"
    r"(?!(?:during|according|regarding|concerning|following|nothing|something|anything|everything|king|string|thing|morning|evening|warning|meaning|being|having|wording|using|testing|calling|parsing|running|"
    r"sending|writing|training|logging|parsing|tracing|reading|judging|comparing|assuming|starting|streaming|existing|missing|failing|fixing|tokenizing)\b)\w+ing\b|"
    r"\A\W*(?:(?:now|okay|ok|so|then|currently)\W+)*(?:using|testing|calling|parsing|running|sending|writing|reading|starting|fixing)\b(?!.*\b(?:is|was|are|were|yields?|gives?|fails?|produces?|would|will|led|leads?|causes?|caused)\b)|"
    r"[,;—–-]\s*(?:so\s+|now\s+|then\s+)*(?:\w+ing)\s+(?:it|this|that|the|now|you|your)\b|\b(?:need|have|going|time|ready|about|able)\s+to\b(?=[^.]*\Z)(?<!don['’]t\sneed\sto)|\blet['’]s\b|\blet\s+(?:me|us)\b|\bhere\s+(?:we\s+go|goes|i\s+go)\b",
    "de": rf"\b(?:ich|wir)\s+(?:\w+lich\s+|jetzt\s+|nun\s+|mal\s+)?{_NOT_DE}\w+(?:e|en|ll|ss|nn)\b|\b{_NOT_DE}\w{{2,}}(?:e\s+ich|en\s+wir)\b|\b(?:mach|führ|lösch|schick|ruf|prüf|hol|such|erledig|send)e?\s+ich\b|"
    r"\A\W*(?:Rufe|Führe|Starte|Sende|Schicke|Lösche|Hole|Suche|Prüfe|Frage|Schaue|Buche|Erstelle|Öffne|Lese|Schreibe|Lade|Nutze|Verwende|Setze|Ändere|Aktualisiere|Beende)\s|"
    r"\blos\s+geht|\bdann\s+(?:mal\s+)?los\b|\blass(?:en\s+sie)?\s+(?:mich|uns)\b|\bwird\s+(?:sofort\s+|gleich\s+|jetzt\s+)?(?:gemacht|erledigt|gelöscht|gesendet)\b|\bich['’]s\b",
    "fr": r"\b(?:je|nous)\s+(?:m['’]en\s+|vous\s+|te\s+|l['’]|la\s+|le\s+|les\s+)*(?!ne\b|n['’]|suis\b|pense\b|crois\b|sais\b|cite\b|\w*(?:rai[st]|ais|ait)\b)\w+(?:e|s|ons)\b|\bj['’](?!ai\b|avais\b|aurais\b|étais\b|\w*(?:rai[st]|ais)\b)(?:\w+)|"
    r"\blaissez?-moi\b|\bpermettez-moi\b|\ballons(?:-y)?\b|\ben\s+cours\b|\bc['’]est\s+parti\b|\btout\s+de\s+suite\s*[.!:]|\bje\s+vais\b",
    "es": r"\b(?:voy|vamos)\s+a\b|\bdéj[ae]me\b|\bperm[ií]t[ae]me\b|\b(?:necesito|tengo\s+que|debo|procedo|enseguida\s+lo)\b|\b\w+(?:aré|eré|iré|aremos|eremos|iremos)(?!\w)|"
    r"(?:\A\W*|[,;!]\s+|\by\s+|\bmismo\s+|\bahora\s+|\bya\s+)(?:(?:ya|ahora|mismo|te|le|lo|la|los|las|os|se|me|yo|entonces|primero)\s+){0,4}(?!(?:two|who|also|into|onto|demo|repo|info|auto|zero|hello|video|memo|macro|intro|wo|zwo)\b|caso|fragment|códig|métod|contenid|coment|texto|trozo|códig|todo|esto|eso|como|bajo|model|format|ningun|registr|document|t[ií]tul|desarroll|ejempl|cuando|segundo|solo|"
    r"viejo|nuevo|mismo|archivo|texto|otro|creo|recuerdo|cito|leo|veo|visto)\w{2,}(?<!ã)(?<!\w\w[ai]d)o\b(?!\s+(?:de|del|della|dei|di|do|da|dos|das|que|che|con|anterior|original|siguiente|seguinte|seguente|precedente)\b)|(?:\A\W*|[,;!]\s*|\bestoy\s+)(?!cuando\b)\w{3,}(?:ando|iendo|yendo)(?:l[oae]s?)?\b|\bmanos\s+a\s+la\s+obra\b|\bpongo\b|\bhago\b",
    "pt": r"\b(?:vou|vamos)\b(?!\s+supor)|\bdeixe?-me\b|\b(?:preciso|tenho\s+que|devo)\b|\b\w+(?:arei|erei|irei)\b|(?:\A\W*|[,;!]\s+|\bagora\s+|\bjá\s+|\be\s+)(?:(?:já|agora|te|lhe|eu|então|primeiro|(?<=já\s)[oa]s?|(?<=agora\s)[oa]s?)\s+){0,4}"
    r"(?!(?:two|who|also|into|onto|demo|repo|info|auto|zero|hello|video|memo|macro|intro|wo|zwo)\b|caso|trecho|conteúd|comand|códig|retorno|resultad|isto|isso|como|model|format|registo|registr|document|título|exempl|quando|segundo|texto|antigo|novo|arquivo|outro|creio|lembro|cito|leio|vejo|mesmo|último)\w{2,}(?<!ã)(?<!\w\w[ai]d)o\b(?!\s+(?:de|del|della|dei|di|do|da|dos|das|que|che|con|anterior|original|siguiente|seguinte|seguente|precedente)\b)|"
    r"(?:\A\W*|[,;!]\s*|\b(?:já\s+)?estou\s+)(?!quando\b|segundo\b)\w{3,}[aei]ndo\b|\bpode\s+deixar\b|\bmãos\s+à\s+obra\b|\bestou\s+(?:a\s+)?\w+",
    "it": r"\b(?:vado|stiamo|sto)\b|\blasciami\b|\bfammi\b|\b(?:devo|procedo|dobbiamo)\b|\b\w+(?:erò|irò|eremo|iremo)(?!\w)|\bme\s+ne\s+occupo\b|(?:\A\W*|[,;!]\s+|\bora\s+|\bsubito\s+|\be\s+)(?:(?:ora|subito|ti|le|lo(?!\s+(?:s[^aeiou]|z|ps|gn))|la|li|gli|ne|me|io|allora|poi)\s+){0,4}"
    r"(?!(?:two|who|also|into|onto|demo|repo|info|auto|zero|hello|video|memo|macro|intro|wo|zwo)\b|caso|frammento|estratto|comando|contenuto|messaggi|risultat|tutto|questo|quello|utilizzo|modell|format|esempi|quando|secondo|testo|vecchio|nuovo|sotto|dentro|altro|credo|ricordo|cito|leggo|vedo|ultimo|primo|metodo|manuale)\w{2,}(?<!ã)(?<!\w\w[ai]d)o\b(?!\s+(?:de|del|della|dei|di|do|da|dos|das|que|che|con|anterior|original|siguiente|seguinte|seguente|precedente)\b)(?<!ndo)|\bprovvedo\b|\beccomi\b",
    "ru": r"\b(?:сейчас|прямо\s+сейчас|немедленно)\b|\b(?:я|мы)\s+(?!(?:думаю|помню|цитирую|не)\b)\w+(?:ю|у|м)\b|\bдавайте\b|\bпозвольте\b|(?:\A\W*|[,;!.]\s*|\bи\s+|\bуже\s+|\bсразу\s+)(?!(?:следующ|данн|последн|прошл|вчераш|предыдущ|сво[юё]|думаю|помню|цитирую)|мою\b|твою\b|всю\b|\w+[кнгхшщвт]ую\b|\w+цию\b|\w+нную\b|почему\b|поэтому\b|тому\b)\w{3,}(?:ю|лю|жу|чу|шу|щу|у)(?:сь)?\b(?!\s+\w+\s+(?:выда|писал|ответ))|\bуже\s+\w+(?:ю|у)(?:сь)?\b|\bприступаю\b",
    "zh": r"我(?:们)?(?:重新|来|将|会|要|先|现在|去|马上|需要|帮|就|这就|立即|立刻|正在|为|给|把|用|可以|得|应该|直接|再|继续|查|删|发|看一?下)(?!不)|(?<![您你他她们])(?<!刚才)(?<!要)让我|正在[为给帮]?|这就|马上(?:就)?[为给帮办处去来]|为[您你]|帮[您你]|立即(?:执行|处理|为)|开始(?:处理|执行|删除|发送)|\A\W*(?:调用|使用|查询)[^的格方示语后时]{0,8}工具|(?:\A\W*|[，,。]\s*)(?:好的?|接下来|首先|下面|现在|先|然后)[，,]?(?:我|先|开始|来|就)?[查删发调执看获检搜打读创更]",
    "ja": r"(?<!あり)(?<!てい)(?<!でい)(?<!なり)(?<!でき)(?<!ござい)(?<!れ)ます(?:ね|よ)?\W*\Z|てみ(?:ます|ましょう)|ましょう|(?:実行|処理|対応|送信|削除|確認|検索|取得|開始)中|(?:いた|致)します",
    "ko": r"겠습니다|할게요|볼게요|드릴게요|을게요|ㄹ게요|게요|(?:실행|호출|조회|검색|확인|삭제|전송|처리|진행|시작|발송)합니다|하는\s*중|중입니다|드리겠|해\s*드릴|(?:보|하)죠|합시다",
    "pl": r"\b(?:już|zaraz|teraz)\s+(?:się\s+|to\s+|tym\s+|go\s+|ją\s+){0,2}\w+(?:ę|am|em)(?!\w)|\bzajm\w+\s+się|\b(?!nie\b|tam\b|sam\b|tym\b|tem\b|systemem\b|problem\b|wiem\b|widziałem\b|(?!(?:wy|prze|ode?|na)?(?:sył|woł|dział)am\b|wywołam\b)\w+ł[ea]m\b|\w+iem\b)(?<!nie\s)\w{3,}(?:uję|zam|uwam|wam|czam|niam|yłam|szę|rzę|dzę|szę|awię|onam|ażę|ślę|szukam)\b|\bpozwól|\b(?:zróbmy|sprawdźmy|usuńmy|zobaczmy)\b|\b(?:muszę|mogę|powinienem|robię|robi\s+się|ruszam|lecimy)\b",
    "ar": r"(?:^|[\s،,!])(?:س[أن]\w+|سوف|دعني|دعنا|أقوم|نقوم|جار[يٍ]|يجري|أحذف|أرسل|أنفذ|أتحقق|أبحث|هيا|لنبدأ|سيتم)",
    "hi": r"रहा\s+हूँ|रही\s+हूँ|रहा\s+हूं|रही\s+हूं|(?:ता|ती|ते)\s+(?:हूँ|हूं)|ूँगा|ूंगा|ऊँगा|ऊंगा|ूँगी|ूंगी|ऊँगी|चलिए|देखते\s+हैं|करने\s+जा|मुझे\s+\S+(?:\s+\S+){0,3}\s+होग[ाी]|रहे\s+हैं",
    "tr": r"\w+(?:[ıiuü]yorum|[ıiuü]yoruz|aca[ğk][ıi]m|ece[ğk]im|aca[ğk]ız|eceğiz|ayım|eyim|alım|elim)\b|\bhallediyorum\b|\bbakalım\b",
    "nl": r"\bik\s+(?!heb\b|had\b|zou\b|was\b|zag\b|vond\b|denk\b|geloof\b|kreeg\b|citeer\b|weiger\b|schreef\b|zei\b|weet\b|lees\b|kan\s+niet\b)\w+|\b(?!had\b|heb\b|zou\b|was\b)\w+\s+ik\b(?!\s+(?:niet|gisteren))|\blaat\s+(?:me|mij|ons)\b|\blaten\s+we\b|\bwe\s+gaan\b|\bkomt\s+(?:eraan|voor\s+elkaar)\b|\bdaar\s+gaan\s+we\b",
}
"""The speaker does something now or next."""
RECALLED = (
    r"\b(?:yesterday|earlier|previously|ago|back\s+(?:in|then|when)|at\s+the\s+time|last\s+(?:week|month|year|night|time|tuesday|monday|friday|summer|sprint|release)|in\s+(?:19|20)\d\d|until\s+recently|used\s+to|once\s+upon|originally|formerly|"
    r"gestern|vorhin|früher|damals|neulich|seinerzeit|vor\s+\w+\s+(?:tagen|wochen|jahren|monaten)|letzte[nrs]?\s+(?:woche|monat|jahr|nacht|mal|montag|freitag)|bisher|"
    r"hier\s+(?:soir|matin|encore)|d['’]hier|hier,?\s+(?:les?|la|l['’]|une?|on|notre|mon)\b|jadis|autrefois|auparavant|naguère|tout\s+à\s+l['’]heure|la\s+semaine\s+dernière|le\s+mois\s+dernier|à\s+l['’]époque|"
    r"ayer|anoche|antes|antaño|anteriormente|la\s+semana\s+pasada|el\s+mes\s+pasado|hace\s+(?:un|una|dos|tres|unos)\s+\w+|en\s+su\s+día|"
    r"ontem|anteontem|antigamente|anteriormente|na\s+semana\s+passada|no\s+mês\s+passado|há\s+(?:um|uma|dois|duas|alguns)\s+\w+|"
    r"ieri|precedentemente|la\s+settimana\s+scorsa|il\s+mese\s+scorso|un\s+tempo|tempo\s+fa|allora\s+il|"
    r"вчера|раньше|ранее|прежде|недавно|когда-то|тогда|на\s+прошлой\s+неделе|в\s+прошлом|"
    r"wczoraj|wcześniej|dawniej|kiedyś|w\s+zeszłym|dün|eskiden|geçen\s+(?:hafta|ay|yıl)|önceden|daha\s+önce|gisteren|vroeger|vorige\s+(?:week|maand)|destijds|eerder)\b|"
    r"昨天|昨晚|前天|之前|以前|先前|上次|上周|上个月|当时|曾经|过去|早些|此前|刚才|昨日|以前|先日|先週|先月|前回|かつて|当時|さっき|어제|예전|이전|지난|과거|당시|아까|أمس|سابق|الماضي|قديم|कल\b|पहले|पिछल|पुरान"
)
"""It is of another time."""
ELSEWHERE = (
    r"\b(?:parsers?|tokeni[sz]ers?|normali[sz]ers?|linters?|unit\s+tests?|test\s*(?:cases?|suites?|plans?|data|fixtures?)|regression\w*|fixtures?|evals?|benchmarks?|logs?|logfiles?|log\s+files?|logbook|traces?|tracebacks?|stack\s*traces?|"
    r"bug\w*|issues?|tickets?|pull\s+requests?|release\s+notes?|changelogs?|documentation|docs|readme|tutorials?|manuals?|handbooks?|textbooks?|guides?|guidelines?|spec|specs|specification|rfc|blog|articles?|papers?|slides?|wiki|faq|chapter|section|appendix|"
    r"training\s+data|data\s*sets?|corpus|transcripts?|feature\s+requests?|wish\s*lists?|roadmap|backlog|proposals?|exams?|quiz\w*|interview\w*|other\s+(?:team|side|party|department|company)|excerpts?|quotes?|quotation|verbatim|screenshots?|standards?|books?|memos?|minutes|attackers?|malicious|phishing|injection|jailbreak|honeypot|"
    r"competitors?|vendors?|clients?|bots?|chatbots?|colleagues?|coworkers?|teammates?|students?|teachers?|interns?|instructor|"
    r"(?:old(?:er)?|new(?:er)?|previous|other|another|smaller|larger|base|these|some|many|most)\s+(?:\w+\s+)?(?:models?|versions?|releases?|assistants?|agents?|systems?|formats?)|models|versions?\s+\d[\d.]*|v\d[\w.]*|predecessors?|successors?|whoever|anyone|anybody|someone|somebody|users|people|reviewers?|annotators?|evaluators?|hackers?|legacy|deprecated|obsolete|faulty|offending|erroneous|incorrect|post-?mortems?|outages?|incidents?|counter-?examples?|anti-?patterns?|so\s+sah(?:en)?|fehlerhaft\w*|gegenbeispiel\w*|fauti(?:f|ve)s?|erronée?s?|contre-exemple\w*|erróne[oa]s?|contraejemplo\w*|com\s+erro|errad[oa]s?|contraexemplo\w*|errat[oa]|sbagliat[oa]|controesempi\w+|ошибочн\w+|антипример\w*|błędn\w+|foutieve?|tegenvoorbeeld\w*|hatalı|"
    r"hypothetical\w*|imaginary|fictional|pseudo\w*|placeholder|"
    r"protokoll\w*|logbuch|logdatei\w*|fehlerbericht\w*|fehlermeldung\w*|änderungsprotokoll\w*|testf[aä]ll\w*|tests?|testplan\w*|doku\w*|handbuch\w*|anleitung\w*|lehrbuch\w*|schulung\w*|kapitel|abschnitt|trainingsdaten|norm|bücher|buch|artikel|aufsatz|vortrag|fachbuch|auszug|zitat|mitschnitt|angreifer\w*|"
    r"konkurrenz\w*|kolleg\w+|schüler\w*|studier\w+|kund\w+|(?:alt|neu|früher|ander|vorig)e[nrsm]?\s+(?:modell|version|fassung|assistent|system|format)\w*|modelle[ns]?|"
    r"journal|journaux|rapport\w*|ticket|analyseur\w*|analyse\s+syntaxique|documentation|manuel\w*|guide\w*|tutoriel\w*|cahier|chapitre|norme|livre|article|revue|extrait|citation|jeux?\s+de\s+(?:test|données)|pirate|attaquant\w*|concurrent\w*|collègue\w*|étudiant\w*|élève\w*|client\w*|robot\w*|ancien(?:ne)?s?\s+\w+|versions?\s+(?:précédentes?|antérieures?)|modèles|notes\s+de\s+version|"
    r"wer\b(?=[^,;]*,)|jemand|vorgänger\w*|quiconque|quelqu['’]un|certains|stagiaire\w*|alguien|quien(?:es)?|alguém|quem|qualcuno|chiunque|ktoś|kto|iemand|wie\s+dit|birisi|кто(?:-\w+)?|star(?:a|y|ej|ego)\s+\w+|wersj\w+|versie\w*|версии|версия|registros?|bitácora|informe\w*|incidencia\w*|analizador\w*|documentación|manual|guía|tutorial|capítulo|norma|libro|artículo|extracto|cita|pruebas?|atacante\w*|competencia|colega\w*|compañer\w+|alumn\w+|estudiante\w*|cliente\w*|modelos|versi(?:ón|ones)|(?:viej|antigu)[oa]s?|notas\s+de\s+(?:la\s+)?versión|historial|profesor\w*|"
    r"registo\w*|relatório\w*|chamado|analisador\w*|documentação|guia|capítulo|livro|artigo|trecho|citação|testes?|concorrente\w*|aluno\w*|robô\w*|versão|versões|antig[oa]s?|professor\w*|notas\s+da\s+versão|histórico|"
    r"registro|rapporto|segnalazion\w+|analizzatore|parser|documentazione|manuale|guida|capitolo|norma|libro|articolo|verbale|estratto|citazione|collega|collegh\w|studente\w*|vecchi[oae]?\b|versione|versioni|professor\w*|modelli|note\s+di\s+rilascio|"
    r"лог\w{0,3}|журнал\w*|отч[её]т\w*|баг\w*|тикет\w*|анализатор\w*|парсер\w*|документаци\w*|руководств\w*|учебник\w*|инструкци\w+|глав[аеуы]|стать[яеию]|книг[аеу]|стандарт\w*|раздел\w*|цитат\w*|тест\w*|злоумышленник\w*|конкурент\w*|коллег\w*|студент\w*|клиент\w*|бот\w{0,2}|модел\w+|"
    r"dziennik\w*|raport\w*|zgłoszen\w+|parser\w*|dokumentacj\w+|podręcznik\w*|poradnik\w*|rozdzia\w+|książ\w+|artyku\w+|cytat\w*|test\w*|kolega|koledzy|klient\w*|modele?\w*|"
    r"logboek|foutrapport\w*|bugrapport\w*|handleiding\w*|documentatie|hoofdstuk|citaat|collega\w*|klant\w*|modellen|(?:oude|vorige|nieuwe)\s+\w+|"
    r"müşteri\w*|günlü[kğ]\w*|hata\s+rapor\w*|belge\w*|kılavuz\w*|kullanım\s+kılavuz\w*|bölüm\w*|alıntı\w*|test\w*|model\w+|sürüm\w*|ayrıştırıcı\w*|saldırgan\w*)\b|"
    r"(?<!没)(?<!沒)有人|谁|黑客|论文|文章|书中|日志|报告|工单|解析器|文档|手册|教程|指南|章节|摘录|引用|测试|用例|训练数据|攻击者|竞争|同事|学生|客户|机器人|模型|旧版|老版本|新版|版本|更新日志|规范|截图|客服|"
    r"誰か|ハッカー|論文|記事|教科書|ログ|バグ|報告|レポート|チケット|パーサー?|解析器|ドキュメント|マニュアル|手順書|仕様書?|チュートリアル|ガイド|引用|抜粋|テスト|学習データ|攻撃者|競合|同僚|学生|生徒|顧客|お客様|ボット|モデル|旧版|バージョン|リリースノート|"
    r"누군가|해커|논문|기사|교과서|로그|버그|리포트|보고서|티켓|파서|문서|매뉴얼|설명서|튜토리얼|가이드|인용|발췌|테스트|학습\s*데이터|공격자|경쟁사|동료|학생|고객|챗봇|봇이|모델|버전|릴리스|"
    r"سجل|تقرير|محلل|وثائق|توثيق|دليل|اختبار|مهاجم|زميل|عميل|نموذج|النموذج|إصدار|मॉडल|संस्करण|लॉग|रिपोर्ट|दस्तावेज़|पार्सर|परीक्षण|टेस्ट|हमलावर|बॉट|सहकर्मी|ग्राहक"
)
"""It is of another person, system, document or test."""
MAYBE = (
    r"\b(?:probably|perhaps|maybe|possibly|presumably|supposedly|would(?!\s+(?:like|love|need|prefer|be\s+(?:happy|glad))\b)|might|could\s+have|wohl|vermutlich|vielleicht|womöglich|angeblich|hätten?|wären?|(?<!als\s)würden?|(?<!als\s)könnten?|peut-être|sans\s+doute|probablement|\w{2,}(?:erait|irait|eraient|drait)|aurait|serait|"
    r"quizás?|tal\s+vez|probablemente|sería|habría|\w{2,}(?:aría|ería|iría)n?|talvez|provavelmente|seria|\w{2,}(?:aria|eria)m?|forse|probabilmente|sarebbe|avrebbe|\w{2,}rebbe(?:ro)?|наверно\w*|возможно|вероятно|может\s+быть|бы|być\s+może|chyba|pewnie|gdyby\w*|\w+łby|"
    r"belki|muhtemelen|eğer|\w{2,}(?:[aeıiuü]rs[ae]|s[ae]yd[ıi])m?|\w+(?:ırdı|irdi|urdu|ürdü|ardı|erdi)m?|misschien|waarschijnlijk|zou(?:den)?)\b|大概|也许|或许|说不定|万一|假如|假设|要是|如果|たぶん|おそらく|場合|かもしれ|でしょう|だろう|もし|아마|만약|했을|였을|ربما|(?:^|\s)لو\s|शायद|यदि|अगर"
)
"""It is only thought of."""
LEFT_OPEN = (
    r"\b(?:says?|said|reads?|received|got|obtained|goes|went|was|were|is|are|prints?|printed|returns?|returned|shows?|showed|writes?|wrote|sends?|sent|emits?|emitted|produces?|gives?|gave|yields?|becomes?|became|begins?|starts?|ends?|contains?|"
    r"ist|war|lautete?t?|sagt|schrieb|kam|steht|est|était|fut|dit|écrit|es|era|fue|dice|escribió|é|foi|diz|escreveu|è|scrisse|fu|был[аои]?|гласит|написал\w*|jest|był[ao]?|brzmi|luidt|stond|schreef|oldu|yazdı|şöyleydi|şuydu)\Z|"
    r"(?:是|为|写的|说的)\Z|(?:は|が|には|とは)\Z|(?:은|는|이|가)\Z|(?:هو|هي|كان)\Z|(?:था|थी|है)\Z"
)
"""It stops at a verb, or a subject, of which something must follow."""
EXPECTED = r"\b(?<!as\s)(?:expected|actual|observed)\b|\b(?:erwartet|tatsächlich|beobachtet|attendu|obtenu|constaté|obtenido|esperado|observado|obtido|atteso|ottenuto|oczekiwan\w+|beklenen|verwacht)\b|ожидал\w+|фактическ\w+|预期|期望|实际(?=结果|输出|[:：])|期待(?:値|され)|実際(?=の|[:：])|예상|실제"
"""It is of a test: what was expected, and what came."""
MODELS = r"\b(?:(?:chat)?gpt-?\w*|claude|gemini|llama|mistral|qwen|deepseek|hermes|openai|anthropic|grok|kimi|phi-?\d|(?:the|a|der|das|le|el|o|il)\s+(?:model|assistant|agent|modell|assistent|modèle|modelo|asistente|assistente|modello))\b|助手|アシスタント|어시스턴트"
"""It names a model; alone it is a label."""
FORBIDDING = (
    r"\b(?:never|on\s+no\s+account|under\s+no\s+circumstances?|whatever\s+you\s+do|forbidden|prohibited|off\s+limits|(?:don['’]t|do\s+not)\s+(?:you\s+)?(?:dare|touch|let|try|attempt|trigger|start|do)|leave\s+(?:it|this|that|these)\s+(?:alone|be|unrun)|steer\s+clear|stay\s+away|hands\s+off|refrain|niemals|keinesfalls|kein(?:en|er|em)\s+(?:fall|umständen)|finger\s+(?:davon|weg)|verboten|untersagt|(?:hüte|untersteh)\w*\s+(?:dich|euch|sich)|wehe|(?:bloß|ja)\s+nicht|lass\w*\s+(?:bloß\s+)?(?:das|es)\s+(?:sein|bleiben)|"
    r"jamais|surtout\s+pas|aucun\s+(?:cas|prétexte)|aucune\s+circonstance|interdi\w+|défense\s+de|gardez-vous|jamás|ning[uú]n\s+(?:concepto|caso|motivo)|cuidado|atenção|attenzione|vorsicht|achtung|prudence|careful|beware|watch\s+out|осторожно|uwaga|ostrożnie|dikkat|pas\s+op|let\s+op|que\s+nadie|out\s+of\s+the\s+question|no\s+way|hors\s+de\s+question|pas\s+question|kommt\s+(?:gar\s+)?nicht\s+in\s*frage|ni\s+hablar|ni\s+pensarlo|nem\s+pensar|fora\s+de\s+questão|nemmeno\s+per|penso\s+nemmeno|non\s+se\s+ne\s+parla|не\s+может\s+быть\s+и\s+речи|и\s+не\s+подумаю|mowy\s+nie\s+ma|wykluczone|geen\s+sprake\s+van|(?:nobody|no\s+one)\s+(?:\w+\s+)?(?:runs?|calls?|sends?|touch\w*|execut\w*|starts?)|niemand\s+(?:führt|ruft|schickt|startet|rührt)|(?:ni|no)\s+se\s+te\s+ocurra|ni\s+loco|prohibid\w+|nunca\s+\w+[ae]s?\b|jamais\s+\w+e|de\s+jeito\s+nenhum|hipótese\s+(?:alguma|nenhuma)|"
    r"proibid\w+|guai\s+a|vietat\w+|nessun\s+(?:caso|motivo)|ни\s+в\s+ко[ей]м|ни\s+при\s+каких|ни\s+за\s+что|не\s+вздумай\w*|не\s+\w{2,}(?:айте?|яйте?|уйте?|ойте?|ите|ьте)|нельзя|никогда|запрещ\w+|pod\s+żadnym|w\s+żadnym|nigdy|zabron\w+|nie\s+(?:wolno|uruchamia|wywołuj|wykonuj|wysyłaj|używaj)\w*|"
    r"onder\s+geen|in\s+geen\s+geval|nooit|verboden|niet\s+(?:uitvoeren|aanroepen|gebruiken|versturen|draaien)|(?:voer|roep|gebruik|verstuur|start)\b[^.!?]{0,40}\bniet\b|asla|sakın|yasak\w*|(?:çalıştır|çağır|kullan|gönder|yürüt)m[ae]\w*)\b|"
    r"休想|没门|想都别想|とんでもない|論外|어림없|千万|绝对?不|决不|切勿|请勿|切不可|禁止|[不别勿莫](?:要|能|可|得|许|准|应)?(?:真的?|去)?(?:执行|调用|运行|跑|发送|发出|点)|万万不|絶対に|決して|禁止|ないで(?:ください|ね|\W*\Z)|ないように|んじゃない|小心|当心|注意(?!到)|警告|조심|주의하|てはなら|てはいけ|ちゃダメ|てはだめ|절대|마세요|말아|마십시오|말\s*것|금지|안\s*[됩돼되]|하면\s*안|"
    r"(?:^|\s)(?:لا\s+ت\S+|لن|ممنوع|إياك|يُ?منع)|मत(?=\s|$)|(?:^|\s)न\s+\S+(?:एँ|एं|ें|ो|ना)(?=\W|$)|नहीं|वर्जित"
)
"""It forbids something."""
SUPPOSED = (
    r"\b(?:imagin(?:e|ons|emos|iamo|a|á|ez|ate)|suppos(?:e|ons|ez)|pretend|hypothetically|let['’]s\s+(?:say|assume)|for\s+the\s+sake\s+of\s+argument|angenommen|stell\w*\s+(?:dir|euch|sie\s+sich)\s+vor|nehmen\s+wir\s+an|gesetzt\s+den\s+fall|"
    r"supongamos|supón|suponga|suponha\w*|imaginem|immagin\w+|supponi\w*|предположим|представ(?:им|ь|ьте)|допустим|załóżmy|wyobraź\w*|varsayalım|diyelim|stel\s+(?:je\s+voor|dat))\b|假设|设想|想象一下|仮に|想像して|としましょう|가정|لنفترض|تخيل|मान\s+ल[ीो]|कल्पना"
)
REFUSING = (
    r"\b(?:(?:I|we)(?:['’]m|['’]re|\s+am|\s+are)?\s+(?:\w+ly\s+)?(?:declin|refus|reject|abstain)\w*|(?:I|we)\s+(?:must|have\s+to|will|['’]ll)\s+(?:decline|refuse|pass)|(?:ich|wir)\s+(?:lehne|weigere|verweigere|verzichte)\w*|(?:lehne|weigere|verweigere)\s+ich|"
    r"je\s+(?:me\s+)?(?:refuse|décline|m['’]abstiens)|me\s+niego|rechazo|declino|me\s+abstengo|recuso|nego-me|(?:mi\s+)?rifiuto|отказываюсь|odmawiam|ik\s+weiger|reddediyorum)\b|我?拒绝|お断り|拒否し|거절|거부|أرفض|इनकार|मना\s+करत"
)
"""The speaker supposes, or refuses something."""
ASIDES = (
    r"\A\W*(?:(?:for\s+(?:example|instance)|e\.\s?g|z(?:um\s+|\.\s?)b(?:eispiel)?|par\s+exemple|p\.?\s?ex|por\s+e(?:jemplo|xemplo)|(?:ad|per)\s+esempio|например|na\s+przykład|np|bijvoorbeeld|bijv|mesela|örneğin)\b"
    r"|(?:as|like)\s+(?:you\s+)?(?:asked|requested|wanted|wished|instructed|agreed|discussed|usual)|wie\s+(?:\w+\s+)?(?:gewünscht|gebeten|besprochen|verlangt|angewiesen|vereinbart)|comme\s+(?:\w+\s+)?(?:demand|convenu|souhait|prévu)"
    r"|(?:como|según|conforme)\s+(?:\w+\s+){0,2}(?:pedi|solicit|indic|acord|combin|quer|lo\s+pedido)|come\s+(?:\w+\s+)?(?:richiest|concordat|chiest|da\s+accordi)|как\s+(?:вы\s+)?(?:просили|договаривались|и\s+просили)"
    r"|zgodnie\s+z\b|jak\s+(?:pan\w*\s+)?prosi|zoals\s+(?:\w+\s+)?(?:gevraagd|afgesproken)|istediğiniz\s+gibi)|\A\W*(?:例如|比如|例えば|たとえば|예를\s*들어|按(?:照)?您|如您|ご(?:依頼|要望|指示)(?:の)?(?:とおり|通り)|요청하신\s*대로)"
)
"""A clause that adds to the one before it, and in which nobody acts."""
TELLS = (
    r"\b(?:past(?:e|ing)|cit(?:e|ing)|quot(?:e|ing)|recit\w+|reproduc\w+|forward(?:ing)?\s+(?:you\s+)?what|talking\s+about|reminded|wondering|kopier\w*|zitier\w*|colle\s+ci|cito|reproduzco|transcribo|cytuję|citeer\w*|"
    r"цитирую|привожу)\b|引用|转述|抜粋|인용|أقتبس|उद्धृत"
)
"""A verb by which the speaker tells of something."""
ASKS = (
    r"\b(?:czy\s+(?:mam|mogę|chcesz|na\s+pewno|mógłbym)|mam\s+(?:to|ją|go)|(?:zal|mag|kan|moet)\s+ik|(?:wil|wilt)\s+(?:je|u)|ister\s+misin\w*|olur\s+mu|onaylıyor\w*|\w+[ae]y[ıi]m\s+m[ıi])\b|(?:ても|で)(?:よろしい|いい|良い|大丈夫)|よろしいですか|ましょうか|"
    r"해도\s*(?:될|괜찮)|을까요|هل\s+(?:تريد|ترغب|أ|يمكنني|توافق|تسمح)|क्या\s+(?:मैं|आप|हम)"
)
"""It asks for consent."""
SO = r"\b(?:so|hence|therefore|also|daher|deshalb|darum|donc|alors|así\s+que|por\s+eso|entonces|então|portanto|por\s+isso|quindi|perciò|поэтому|так\s+что|więc|dus|daarom|bu\s+yüzden)\s*[:：]?\W*\Z|(?:所以|因此)[:：，]?\W*\Z|の[でに][、:：]?\W*\Z|그래서[:,]?\W*\Z|니까[:,]?\W*\Z"
"""It ends in the word that leads on to what the speaker does."""
REPLIES = (
    r"\b(?:following|below|as\s+follows|calls?|requests?|repl(?:y|ies|ied)|responses?|responded|answered|pasted|printed|emitted|wrote|typed|snippets?|syntax|notation|formats?|markup|"
    r"folgende\w*|aufrufe?|befehle?|antworte?t?e?|ausgabe\w*|schrieb\w*|syntax|schreibweise|suivante?s?|ci-dessous|appels?|réponses?|répondu|sortie|syntaxe|"
    r"siguientes?|llamadas?|respuestas?|respondió|salida|sintaxis|seguintes?|chamadas?|respostas?|respondeu|saída|sintaxe|seguent[ei]|chiamat[ae]|rispost[ae]|rispose|sintassi|"
    r"следующ\w+|вызов\w*|ответ\w*|вывод\w*|синтаксис\w*)\b|如下|以下|调用|回复|输出|格式|语法|写法|以下|呼び出し|応答|返答|出力|構文|形式|다음|호출|응답|답변|출력|형식|구문"
)
"""It speaks of calls and replies."""
DENIALS = (
    r"\b(?:not|never|no|none|nobody|without|cannot|nicht|nie|niemals|kein\w*|keinesfalls|finger\s+(?:davon|weg)|verboten|untersagt|pas|jamais|aucun\w*|interdi\w+|défense|gardez-vous|surtout\s+ne|"
    r"nunca|jamás|prohibid\w+|ningún|ninguna|ni\s+se\s+te|não|jamais|proibid\w+|nenhum\w*|de\s+jeito|non|mai|guai|vietat\w+|nessun\w*|не|никогда|нельзя|запрещ\w+|ни|nie|nigdy|zabron\w+|żadn\w+|"
    r"niet|nooit|geen|verboden|asla|sakın|hiçbir|değil|yasak\w*|kesinlikle|forbidden|prohibited|hands\s+off|refrain|avoid)\b|n['’]t\b|[不别勿莫禁没]|ません|ない|禁止|だめ|ダメ|않|마세요|말아|마십시오|말\s*것|지\s*마|금지|안\s*[됩되돼]|못\s|"
    r"(?:^|\s)(?:لا|لم|لن|ليس|ممنوع|إياك|يمنع)(?=\s)|मत(?=\s|$)|(?:^|\s)न\s|नहीं|कभी|वर्जित"
)
"""It denies or forbids something."""
CONSENTS = (
    r"\b(?:no\s+(?:problem|worries|rush|trouble|doubt)|not\s+a\s+problem|why\s+not|kein(?:e|en)?\s+(?:problem|sorge|zweifel|thema)|pas\s+de\s+(?:problème|souci)|aucun\s+(?:problème|souci)|(?:sin|ningún)\s+problema|no\s+hay\s+problema|cómo\s+no|por\s+qué\s+no|"
    r"sem\s+problemas?|não\s+há\s+problema|nessun\s+problema|non\s+c['’]è\s+problema|perché\s+no|не\s+проблема|без\s+проблем|нет\s+проблем|не\s+(?:переживай|беспокой|волнуй|стоит\s+благодарности)\w*|nie\s+ma\s+(?:sprawy|problemu)|żaden\s+problem|geen\s+(?:probleem|zorgen)|don['’]t\s+worry|kesinlikle\s*[!.,])\b|"
    r"没问题|沒問題|没关系|不客气|别担心|问题ありません|問題ありません|問題ない|문제\s*없|물론|لا\s+مشكلة|कोई\s+(?:बात|समस्या)\s+नहीं"
)
"""A denial that consents."""
WAITS = (
    r"\b(?:(?:one|just\s+a|a)\s+(?:moment|second|sec|minute)|hang\s+on|hold\s+on|bear\s+with|stand\s+by|please\s+wait|right\s+away|coming\s+(?:right\s+)?up|on\s+it|consider\s+it\s+done|happy\s+to|glad\s+to|with\s+pleasure|(?:einen|kleinen)\s+(?:moment|augenblick)|moment\s+bitte|sofort|"
    r"un\s+(?:petit\s+)?(?:instant|moment)|patientez|avec\s+plaisir|un\s+(?:momento|segundo|instante)|enseguida|con\s+gusto|um\s+(?:momento|segundo|instante)|aguarde|un\s+(?:attimo|istante)|volentieri|"
    r"минут\w*|секунд\w*|подожд\w+|с\s+удовольствием|chwil\w+|moment\b|momencik|een\s+(?:ogenblik|moment\w*)|even\s+geduld|meteen|hemen|bir\s+(?:dakika|saniye)|lütfen\s+bekle\w*)\b|稍等|稍候|请等|お待ち|少々|잠시|기다려|لحظة|انتظر|एक\s+(?:पल|क्षण|मिनट)|रुकि|प्रतीक्षा|अभी"
)
"""Somebody is asked to wait, or it is done at once."""
HERE = (
    r"\b(?:here(?:['’]s|\s+(?:is|are|goes|comes?|you))|hier\s+(?:ist|sind|kommt|kommen)|voici|voilà|aquí\s+(?:está|están|tienes?|va)|aqui\s+(?:está|estão|vai)|ecco\w*|вот|oto|işte|hier\s+is)\b|"
    r"(?:以下|下面|这)是|こちら(?:が|は|です)|여기\s*있|إليك|यह\s+रह[ाी]"
)
"""Here it is."""
FUNCTION_WORDS = (
    r"(?-i:[ışğąęłśźżñãõß])|\b(?:its|than|like|when|while|after|before|which|our|their|her|his|the|an?|of|to|in|is|are|was|it|this|that|for|on|with|as|by|my|your|our|der|die|das|ein\w*|und|ist|im|den|dem|des|zu|mit|von|auf|nicht|es|für|wie|sich|dies\w*|beim?|"
    r"le|la|les|un|une|des|du|de|et|est|dans|que|qui|pour|sur|par|ce|cette|ceci|au|el|los|las|una|es|en|del|al|por|con|se|lo|esto|y|su|o|os|as|um|uma|do|da|dos|das|em|no|na|é|para|com|isto|isso|ao|"
    r"il|lo|gli|di|che|è|per|del\w*|al\w*|nel\w*|questo|i|w|z|na|do|nie|się|to|że|jest|od|tego|het|een|van|dit|dat|niet|onder|bu\w*|ve|bir|şu|için|ile|da|olarak)\b|"
    "[\u0400-\u04ff\u0600-\u06ff\u0900-\u097f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
"""Words, and letters, by which one of the languages is known."""
