"""Sentences right before a call: what each kind of lead-in is called in each language. Phrases are parted by ` | `."""

from __future__ import annotations

__all__ = ["GRID", "LANGUAGES"]

LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "ru", "zh", "ja", "ko")

GRID: dict[str, dict[str, str]] = {
    "prohibition": {
        "en": "Do not run this: | Never call this! | Please don't execute the following: | This must not be run: | You should not use this: | "
        "Avoid calling it like this: | Not to be executed: | You mustn't copy this: | This should never be called: | Under no circumstances run this:",
        "de": "Bitte nicht ausführen: | Führe das nicht aus: | Rufen Sie das niemals auf: | Das darf nicht ausgeführt werden: | "
        "Verwenden Sie dies auf keinen Fall: | Man sollte das nie aufrufen: | So etwas darfst du nicht aufrufen: | Nicht starten: | Kopiere das nicht:",
        "fr": "N'exécutez pas ceci : | Il ne faut pas exécuter ceci : | À ne pas lancer : | Ne l'appelez jamais : | N'utilise pas cela : | "
        "Ceci ne doit pas être exécuté : | Évitez de lancer ceci : | Interdiction d'exécuter ceci :",
        "es": "No ejecutes esto: | No lo llames nunca: | Esto no debe ejecutarse: | No use esto: | Nunca ejecute lo siguiente: | No hay que llamarlo así: | "
        "Evite ejecutar esto: | Prohibido ejecutar esto:",
        "pt": "Não execute isto: | Nunca chame isto: | Não use isto: | Isto não deve ser executado: | Não o chame assim: | Não copie o seguinte: | "
        "Evite executar isto: | Não se deve executar isto:",
        "it": "Non eseguire questo: | Non chiamare mai così: | Non usarlo: | Non va eseguito: | Questo non deve essere eseguito: | Mai eseguire questo: | "
        "Non lo esegua: | Evita di eseguire questo:",
        "ru": "Не выполняйте это: | Никогда не вызывай это: | Это нельзя запускать: | Не запускайте следующее: | Не надо это выполнять: | Не используйте это: | "
        "Запрещено выполнять: | Это не следует вызывать:",
        "zh": "请勿执行 | 不要执行以下内容： | 切勿运行： | 禁止执行： | 千万别调用： | 这个不能执行： | 不应该这样调用： | 不可复制：",
        "ja": "実行しないでください： | これを呼び出してはいけません： | 使用しないこと： | 実行禁止： | 絶対に呼び出さないで： | これは実行してはならない： | コピーしないでください：",
        "ko": "실행하지 마세요: | 절대 호출하지 마십시오: | 실행 금지: | 이것을 실행하면 안 됩니다: | 이렇게 호출하지 말 것: | 복사하지 마세요: | 사용해서는 안 됩니다:",
    },
    "refusal": {
        "en": "I will not call it: | I won't run this: | I'm not going to execute: | I refuse to call this: | I cannot run this: | I won't be running this: | "
        "I can't call it: | I am unable to execute this: | We did not run this: | I would never call this: | I am not calling this: | "
        "I decline to run the following: | I have not executed that: | I'm not allowed to run this: | I don't want to run this: | I did not send that:",
        "de": "Ich werde das nicht ausführen: | Ich rufe das nicht auf: | Ich kann das nicht aufrufen: | Ich weigere mich, das auszuführen: | "
        "Ich habe das nicht ausgeführt: | Ich darf das nicht ausführen: | Das führe ich nicht aus: | Ich lehne es ab, das auszuführen: | "
        "Das werde ich nicht aufrufen: | Ich will das nicht starten: | Nicht ausgeführt habe ich:",
        "fr": "Je ne vais pas exécuter ceci : | Je refuse de lancer : | Je ne peux pas appeler cela : | Je ne l'exécuterai pas : | Je n'ai pas lancé ceci : | "
        "Je n'exécute pas cela : | Je me refuse à l'appeler : | Je ne suis pas autorisé à exécuter ceci : | Je ne veux pas lancer cet appel :",
        "es": "No voy a ejecutarlo: | Me niego a ejecutar: | No puedo ejecutar esto: | No lo ejecutaré: | No he llamado a esto: | No ejecutaré esto: | "
        "Rehúso llamarlo: | No quiero ejecutarlo: | No lo he ejecutado:",
        "pt": "Não vou executar isto: | Recuso-me a executar: | Não posso executar isto: | Não executarei isto: | Não o executei: | Não quero chamar isso: | "
        "Eu não chamei isto: | Não irei executar isto:",
        "it": "Non lo eseguirò: | Non eseguirò questo: | Mi rifiuto di eseguire: | Non posso eseguire questo: | Non ho eseguito questo: | Non intendo chiamarlo: | "
        "Non lo chiamo: | Non voglio eseguirlo:",
        "ru": "Я не буду это выполнять: | Я отказываюсь выполнять: | Я не могу это запустить: | Не стану этого вызывать: | Я этого не запускал: | Я это не выполняю: | "
        "Мы не будем это вызывать: | Я не выполнил это:",
        "zh": "我不会执行： | 我拒绝执行： | 我不能运行这个： | 我没有调用它： | 我不打算调用： | 我无法执行该调用： | 我并未执行： | 我不想运行：",
        "ja": "実行しません： | これは実行できません： | この呼び出しは行いません： | それは実行していません： | 実行を拒否します： | 呼び出すことはできません： | "
        "私はこれを呼び出しません： | 実行するつもりはありません：",
        "ko": "실행하지 않겠습니다: | 실행할 수 없습니다: | 이 호출은 하지 않겠습니다: | 실행을 거부합니다: | 호출하지 않았습니다: | 실행하지 않을 것입니다: | "
        "저는 그것을 실행하지 않습니다:",
    },
    "label": {
        "en": "Example: | Examples: | **Example:** | ## Example | Usage: | Syntax: | Sample call: | From the docs: | Template: | An example: | Example usage: | "
        "Example tool call: | Wrong: | Bad: | Incorrect: | Wrong way: | Do not: | Don't:",
        "de": "Beispiel: | **Beispiel**: | Aufbau: | Dokumentation: | Syntax: | Beispielaufruf: | Ein Beispiel: | Aus der Dokumentation: | Falsch: | Schlecht: | "
        "Muster: | Vorlage: | Beispiele:",
        "fr": "Exemple : | Syntaxe : | Utilisation : | Modèle : | Exemple d'appel : | Un exemple : | Format : | Documentation : | Faux : | Incorrect : | Mauvais :",
        "es": "Ejemplo: | Formato: | Sintaxis: | Uso: | Plantilla: | Ejemplo de llamada: | Documentación: | Incorrecto: | Mal: | Un ejemplo:",
        "pt": "Exemplo: | Sintaxe: | Formato: | Uso: | Modelo: | Exemplo de chamada: | Documentação: | Errado: | Incorreto: | Um exemplo:",
        "it": "Esempio: | Sintassi: | Formato: | Uso: | Modello: | Esempio di chiamata: | Documentazione: | Sbagliato: | Errato: | Un esempio:",
        "ru": "Пример: | Синтаксис: | Формат: | Использование: | Шаблон: | Пример вызова: | Документация: | Неправильно: | Неверно: | Примеры:",
        "zh": "示例： | 例子: | 格式： | 语法： | 用法： | 示例调用： | 文档： | 错误写法： | 错误： | 调用示例：",
        "ja": "例： | 使用例： | 構文： | 形式： | 呼び出し例： | サンプル： | 悪い例： | 書式： | 誤り： | 使い方：",
        "ko": "예시: | 예: | 형식: | 사용법: | 호출 예시: | 문법: | 잘못된 예: | 사용 예: | 문서: | 템플릿:",
    },
    "form": {
        "en": "A call looks like this: | It is written as: | You can call it like so: | The syntax is: | The format of a call is: | The correct format is as follows: | "
        "The format is: | This is how it is written: | It is written like this: | The usage is: | This is what a call looks like: | The syntax is as follows: | "
        "A tool call has the following form: | This is how a call is made:",
        "de": "So sieht ein Aufruf aus: | Ein Aufruf sieht so aus: | Das schreibt man so: | Das Format lautet: | Die Syntax ist: | Es wird so geschrieben: | "
        "Das Format ist wie folgt: | Die Schreibweise ist: | Ein Aufruf hat folgende Form: | So wird es geschrieben: | Die Syntax lautet wie folgt:",
        "fr": "Un appel ressemble à ceci : | Cela s'écrit ainsi : | Le format est le suivant : | La syntaxe est : | Voici comment on l'écrit : | On l'écrit comme ceci : | "
        "Un appel a cette forme : | Un appel se présente ainsi :",
        "es": "Se ve así: | Así se escribe una llamada: | La sintaxis es: | El formato es el siguiente: | Se escribe de esta manera: | Una llamada tiene este aspecto: | "
        "Una llamada es así: | El formato correcto es:",
        "pt": "Uma chamada tem este aspecto: | O formato é o seguinte: | A sintaxe é: | Escreve-se assim: | É escrito assim: | Uma chamada é assim: | "
        "Uma chamada parece-se com isto: | É assim que se escreve: | O formato correto é:",
        "it": "Si scrive così: | Il formato è il seguente: | Una chiamata ha questo aspetto: | La sintassi è: | Ecco come si scrive: | Viene scritto così: | "
        "Una chiamata è fatta così: | Il formato corretto è:",
        "ru": "Вызов выглядит так: | Формат следующий: | Это пишется так: | Синтаксис такой: | Вот как это записывается: | Вызов имеет следующий вид: | "
        "Формат такой: | Так пишется вызов: | Вот как выглядит вызов:",
        "zh": "格式如下： | 写法是： | 工具调用的格式为： | 调用形如： | 语法是： | 应该这样写： | 调用看起来像这样： | 它是这样写的：",
        "ja": "次のように書きます： | 形式は次のとおりです： | 次のような形式です： | 呼び出しは以下のようになります： | 構文は次のとおりです： | このように記述します： | "
        "書き方は次のとおりです： | 呼び出しはこのような形になります：",
        "ko": "호출은 다음과 같습니다: | 형식은 다음과 같습니다: | 이렇게 씁니다: | 다음과 같이 작성합니다: | 구문은 다음과 같습니다: | 호출은 이런 형태입니다: | "
        "이렇게 작성합니다: | 호출은 이렇게 생겼습니다:",
    },
    "example": {
        "en": "For example: | For instance, | e.g. | Here is an example: | Below is a sample call: | This is an example of a call: | An example call is: | "
        "Here's a sample: | A call such as: | Suppose the model writes: | Assume the reply is: | Imagine the model outputs: | See the following example: | "
        "Take this call as an example:",
        "de": "Zum Beispiel: | Hier ist ein Beispiel: | Ein Beispiel für einen Aufruf: | Nachfolgend ein Beispielaufruf: | Beispielsweise: | "
        "Ein Aufruf wie etwa: | Ein möglicher Aufruf wäre: | Angenommen, das Modell schreibt: | Das folgende Beispiel zeigt es: | Hier ein Beispielaufruf:",
        "fr": "Par exemple : | Voici un exemple : | Un exemple d'appel est : | Un appel tel que : | Ci-dessous, un exemple d'appel : | Supposons que le modèle écrive : | "
        "L'exemple suivant le montre : | Prenons cet appel :",
        "es": "Por ejemplo: | He aquí un ejemplo: | Un ejemplo de llamada es: | Una llamada como: | A continuación, un ejemplo: | Supongamos que el modelo escribe: | "
        "Este es un ejemplo: | El siguiente ejemplo lo muestra:",
        "pt": "Por exemplo: | Aqui está um exemplo: | Um exemplo de chamada é: | Uma chamada como: | Segue um exemplo: | Suponha que o modelo escreva: | "
        "Este é um exemplo: | O exemplo a seguir mostra:",
        "it": "Per esempio: | Ecco un esempio: | Ad esempio: | Una chiamata come: | Di seguito un esempio: | Supponiamo che il modello scriva: | "
        "Questo è un esempio: | L'esempio seguente lo mostra:",
        "ru": "Например: | Вот пример: | К примеру: | Ниже приведён пример: | Примером вызова служит: | Допустим, модель пишет: | Вот образец вызова: | "
        "Рассмотрим пример:",
        "zh": "例如： | 比如： | 举个例子： | 下面是一个示例： | 以下是一个调用示例： | 这是一个例子： | 假设模型输出： | 请看下面的例子：",
        "ja": "これは例です： | 例えば： | 次の例をご覧ください。 | ツール呼び出しの例です。 | ツール呼び出しの例は次のとおりです。 | 以下は例です。 | "
        "以下にサンプルを示します： | 以下は呼び出しの一例です：",
        "ko": "예를 들어: | 예를 들면 다음과 같습니다. | 다음은 예시입니다: | 다음은 호출의 예입니다: | 예컨대: | 가령 이렇게: | 아래는 샘플 호출입니다: | "
        "다음 예를 보세요:",
    },
    "report": {
        "en": "The log says: | What the other assistant wrote was: | The user pasted: | Your previous message contained: | The file contains the following: | "
        "In chapter 3 of the manual we read: | Output of the old model: | The tests contain this line: | Your parser turned this into a call: | "
        "A hacker could write: | The string to escape is: | What it sent was: | The old logs showed: | According to the log:",
        "de": "Im Log steht: | Das andere Modell schrieb: | Der Nutzer hat geschrieben: | Die Datei enthält Folgendes: | Im Protokoll von gestern steht: | "
        "Was der andere Assistent schrieb, war: | Laut Protokoll: | Ausgabe des alten Modells: | In der Doku steht:",
        "fr": "Le journal dit : | Le modèle a écrit : | Le fichier contient ceci : | Ce que l'autre assistant a écrit était : | L'utilisateur a écrit : | "
        "Dans le journal, on lit : | Selon le journal : | Dans la documentation on trouve :",
        "es": "El registro dice: | El modelo escribió: | El archivo contiene lo siguiente: | Lo que escribió el otro asistente fue: | El usuario escribió: | "
        "En el registro se lee: | Según el registro: | En la documentación aparece:",
        "pt": "O log diz: | O modelo escreveu: | O arquivo contém o seguinte: | O que o outro assistente escreveu foi: | O usuário escreveu: | "
        "No log lê-se: | Segundo o log: | Na documentação aparece:",
        "it": "Il log dice: | Il modello ha scritto: | Il file contiene quanto segue: | Quello che l'altro assistente ha scritto era: | L'utente ha scritto: | "
        "Nel log si legge: | Secondo il log: | Nella documentazione compare:",
        "ru": "В логе написано: | Модель написала: | Файл содержит следующее: | Другой ассистент написал вот что: | Пользователь написал: | В журнале записано: | "
        "Согласно журналу: | В документации указано:",
        "zh": "日志里写着： | 模型写道： | 文件包含以下内容： | 另一个助手写的是： | 用户写道： | 日志中记录： | 根据日志： | 文档里写着：",
        "ja": "ログにはこうあります： | モデルはこう書きました： | ファイルには次の内容が含まれています： | 別のアシスタントが書いたのは： | ユーザーはこう書いています： | "
        "ログに記録されていたのは： | ログによると： | ドキュメントにはこう書かれています：",
        "ko": "로그에는 이렇게 되어 있습니다: | 모델이 이렇게 썼습니다: | 파일에는 다음이 포함되어 있습니다: | 다른 어시스턴트가 쓴 것은: | 사용자가 작성한 내용: | "
        "로그에 기록된 내용: | 로그에 따르면: | 문서에는 이렇게 적혀 있습니다:",
    },
    "condition": {
        "en": "If you agree I will call it as follows: | Once you confirm, I'd run: | As soon as you approve, I'll run this: | If you want me to, I'll call: | "
        "With your permission, I will run: | After your confirmation I'll execute: | If you like, I'll run it: | Unless you object, I'll call: | "
        "Provided you agree, I will run: | When you give the go-ahead, I'll run: | I'll run this once you confirm: | If that's okay with you, I'll call:",
        "de": "Wenn Sie zustimmen, rufe ich auf: | Sobald du bestätigst, führe ich aus: | Falls Sie einverstanden sind, rufe ich das auf: | Wenn du möchtest, starte ich: | "
        "Mit Ihrer Erlaubnis führe ich aus: | Nach Ihrer Bestätigung rufe ich auf: | Wenn es dir recht ist, rufe ich das so auf: | Wenn du willst, rufe ich auf:",
        "fr": "Si vous êtes d'accord, je vais appeler : | Dès que vous confirmez, je lance : | Si vous le souhaitez, j'exécute : | Avec votre accord, je lance : | "
        "Après votre confirmation, j'appelle : | Si tu veux, je lance : | Une fois que vous aurez confirmé, je lance : | Si vous acceptez, j'appelle :",
        "es": "Si está de acuerdo, voy a llamar: | Cuando confirmes, ejecuto: | En cuanto confirme, ejecutaré: | Si quieres, ejecuto: | Con su permiso, ejecuto: | "
        "Una vez que confirme, voy a ejecutar: | Tras su confirmación ejecuto: | Si lo desea, ejecuto:",
        "pt": "Se concordar, vou chamar: | Quando confirmar, executo: | Assim que você confirmar, vou executar: | Se quiser, executo: | Com a sua permissão, executo: | "
        "Após a sua confirmação, executo: | Se estiver de acordo, executo: | Se você aprovar, executo:",
        "it": "Se sei d'accordo, eseguo: | Quando confermi, eseguo: | Appena conferma, eseguirò: | Se vuoi, eseguo: | Con il tuo permesso, eseguo: | "
        "Dopo la tua conferma eseguo: | Una volta confermato, eseguo: | Se lo desidera, eseguo:",
        "ru": "Если вы согласны, я вызову: | Как только вы подтвердите, я выполню: | Если хотите, я запущу: | С вашего разрешения выполняю: | "
        "После вашего подтверждения вызову: | Если вы не против, вызову: | Когда подтвердите, запущу: | Если вы одобрите, я выполню:",
        "zh": "如果您同意，我将这样调用： | 一旦您确认，我会执行： | 您确认后，我来执行： | 如果你愿意，我来调用： | 经您同意后，我会调用： | 得到您的许可后我将运行： | "
        "等您批准后，我将执行：",
        "ja": "よろしければ、次のように呼び出します： | 同意いただければ、実行します： | ご確認いただけましたら実行します： | 承認後に実行します： | "
        "許可をいただければ実行します： | もしよければ実行します： | ご希望であれば実行します：",
        "ko": "동의하시면 이렇게 호출하겠습니다: | 확인해 주시면 실행하겠습니다: | 승인하시면 실행할게요: | 원하시면 실행하겠습니다: | 허락하시면 호출하겠습니다: | "
        "괜찮으시다면 실행하겠습니다: | 확인 후 실행하겠습니다:",
    },
    "announcement": {
        "en": "I'll check: | I am calling it: | Let me look: | I need to read the file: | I'm running it now: | I will use the tool: | Calling the tool now: | "
        "Running it: | I can look that up: | Let's see:",
        "de": "Ich prüfe das: | Ich rufe es jetzt auf: | Lass mich nachsehen: | Ich werde das Wetter abrufen: | Ich schaue nach: | Ich muss die Datei lesen: | "
        "Wird jetzt aufgerufen: | Ich führe das jetzt aus:",
        "fr": "Je vérifie : | Je vais vérifier : | Laissez-moi regarder : | J'appelle l'outil : | Je lance la recherche : | Je dois lire le fichier : | "
        "J'exécute maintenant :",
        "es": "Voy a comprobarlo: | Déjame ver: | Lo ejecuto ahora: | Llamo a la herramienta: | Necesito leer el archivo: | Vamos a ver: | Estoy ejecutándolo:",
        "pt": "Vou verificar: | Deixe-me ver: | Executo agora: | Estou chamando a ferramenta: | Preciso ler o arquivo: | Vamos ver: | Chamo a ferramenta:",
        "it": "Controllo subito: | Fammi vedere: | Lo eseguo ora: | Chiamo lo strumento: | Devo leggere il file: | Sto per eseguirlo: | Lasciami controllare:",
        "ru": "Сейчас проверю: | Я посмотрю: | Вызываю инструмент: | Выполняю: | Давайте проверим: | Я запускаю это: | Позвольте посмотреть:",
        "zh": "我来查询： | 让我看看： | 我将调用工具： | 正在执行： | 我现在调用它： | 我会检查： | 我需要读取文件：",
        "ja": "確認します： | 調べてみます： | ツールを呼び出します： | 実行します： | 見てみましょう： | 検索します： | これから実行します：",
        "ko": "확인하겠습니다: | 찾아볼게요: | 도구를 호출하겠습니다: | 실행합니다: | 살펴볼게요: | 지금 실행하겠습니다: | 조회합니다:",
    },
}
"""kind -> language -> phrases."""
