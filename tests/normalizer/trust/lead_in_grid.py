"""Sentences right before a call, by kind and language. Signs part them: ` | `."""

from __future__ import annotations

__all__ = ["GRID", "LANGUAGES"]

LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "ru", "zh", "ja", "ko")

GRID: dict[str, dict[str, str]] = {
    "prohibition": {
        "en": "Do not run this: | Never call this! | Please don't execute the following: | This must not be run: | "
        "You should not use this: | Avoid calling it like this: | You mustn't copy this: | "
        "This should never be called: | Never call it: | It mustn't be executed:",
        "de": "Bitte nicht ausführen: | Führe das nicht aus: | Rufen Sie das niemals auf: | "
        "Das darf nicht ausgeführt werden: | Man sollte das nie aufrufen: | So etwas darfst du nicht aufrufen: | "
        "Kopiere das nicht:",
        "fr": "N'exécutez pas ceci : | À ne pas lancer : | Ne l'appelez jamais : | N'utilise pas cela : | "
        "Ceci ne doit pas être exécuté : | Ne pas exécuter: | N'appelez jamais ceci: | À lire sans lancer:",
        "es": "No ejecutes esto: | No lo llames nunca: | Esto no debe ejecutarse: | No use esto: | Nunca ejecute lo siguiente:",
        "pt": "Não execute isto: | Nunca chame isto: | Não use isto: | Isto não deve ser executado: | Não o chame assim: | "
        "Não copie o seguinte: | Nunca chame esta função:",
        "it": "Non eseguire questo: | Non chiamare mai così: | Non va eseguito: | Questo non deve essere eseguito: | "
        "Mai eseguire questo: | Mai chiamare così:",
        "ru": "Не выполняйте это: | Никогда не вызывай это: | Это нельзя запускать: | Не запускайте следующее: | "
        "Не используйте это: | Запрещено выполнять: | Это не следует вызывать: | Никогда не вызывайте так:",
        "zh": "请勿执行 | 不要执行以下内容： | 切勿运行： | 禁止执行： | 千万别调用： | 这个不能执行： | 不要调用这个:",
        "ja": "実行しないでください： | これを呼び出してはいけません： | 使用しないこと： | 実行禁止： | 絶対に呼び出さないで： | これは実行してはならない： | コピーしないでください： | これを呼び出さないで:",
        "ko": "실행하지 마세요: | 절대 호출하지 마십시오: | 실행 금지: | 이것을 실행하면 안 됩니다: | 이렇게 호출하지 말 것: | 복사하지 마세요: | 사용해서는 안 됩니다: | 호출 금지:",
    },
    "refusal": {
        "en": "I will not call it: | I won't run this: | I refuse to call this: | I cannot run this: | I can't call it: | "
        "We did not run this: | I would never call this: | I am not calling this: | I decline to run the following: | "
        "I have not executed that: | If you agree I will call it as follows: | Once you confirm, I'd run: | "
        "As soon as you approve, I'll run this: | With your permission, I will run: | "
        "After your confirmation I'll execute: | I'll run this once you confirm: | I will not run this: | "
        "We haven't called it: | If you agree: | After your approval:",
        "de": "Ich werde das nicht ausführen: | Ich rufe das nicht auf: | Ich kann das nicht aufrufen: | "
        "Ich habe das nicht ausgeführt: | Ich darf das nicht ausführen: | Das führe ich nicht aus: | "
        "Das werde ich nicht aufrufen: | Nicht ausgeführt habe ich: | Wenn Sie zustimmen, rufe ich auf: | "
        "Sobald du bestätigst, führe ich aus: | Falls Sie einverstanden sind, rufe ich das auf: | "
        "Mit Ihrer Erlaubnis führe ich aus: | Nach Ihrer Bestätigung rufe ich auf: | Sobald Sie bestätigen: | "
        "Mit deiner Zustimmung:",
        "fr": "Je ne vais pas exécuter ceci : | Je refuse de lancer : | Je ne peux pas appeler cela : | "
        "Je ne l'exécuterai pas : | Je n'exécute pas cela : | Je ne veux pas lancer cet appel : | "
        "Si vous êtes d'accord, je vais appeler : | Dès que vous confirmez, je lance : | Avec votre accord, je lance : | "
        "Après votre confirmation, j'appelle : | Une fois que vous aurez confirmé, je lance : | "
        "Si vous acceptez, j'appelle : | Je ne l'exécute pas: | Si vous êtes d'accord: | Avec votre accord:",
        "es": "No voy a ejecutarlo: | Me niego a ejecutar: | No puedo ejecutar esto: | No lo ejecutaré: | "
        "No quiero ejecutarlo: | Si está de acuerdo, voy a llamar: | Cuando confirmes, ejecuto: | "
        "En cuanto confirme, ejecutaré: | Con su permiso, ejecuto: | Una vez que confirme, voy a ejecutar: | "
        "Tras su confirmación ejecuto: | No lo voy a llamar: | Cuando confirmes: | Con su permiso:",
        "pt": "Não vou executar isto: | Recuso-me a executar: | Não posso executar isto: | Não quero chamar isso: | "
        "Se concordar, vou chamar: | Quando confirmar, executo: | Assim que você confirmar, vou executar: | "
        "Com a sua permissão, executo: | Após a sua confirmação, executo: | Se você aprovar, executo: | "
        "Não posso chamar a função: | Quando confirmar: | Após a sua confirmação:",
        "it": "Non lo eseguirò: | Mi rifiuto di eseguire: | Non posso eseguire questo: | Non intendo chiamarlo: | "
        "Non lo chiamo: | Non voglio eseguirlo: | Se sei d'accordo, eseguo: | Quando confermi, eseguo: | "
        "Appena conferma, eseguirò: | Con il tuo permesso, eseguo: | Dopo la tua conferma eseguo: | "
        "Non voglio chiamarlo: | Se sei d'accordo: | Dopo la tua conferma:",
        "ru": "Я не буду это выполнять: | Я отказываюсь выполнять: | Не стану этого вызывать: | Мы не будем это вызывать: | "
        "Если вы согласны, я вызову: | Как только вы подтвердите, я выполню: | С вашего разрешения выполняю: | "
        "После вашего подтверждения вызову: | Если вы одобрите, я выполню: | Как только вы подтвердите: | "
        "С вашего разрешения:",
        "zh": "我不会执行： | 我拒绝执行： | 我不能运行这个： | 我没有调用它： | 我不打算调用： | 我无法执行该调用： | 我不想运行： | 如果您同意，我将这样调用： | 您确认后，我来执行： | "
        "经您同意后，我会调用： | 等您批准后，我将执行： | 我不会执行它: | 我们没有调用这个工具: | 如果您同意: | 您确认后:",
        "ja": "実行しません： | これは実行できません： | それは実行していません： | 実行を拒否します： | よろしければ、次のように呼び出します： | 同意いただければ、実行します： | ご確認いただけましたら実行します： | "
        "許可をいただければ実行します： | これは実行しません: | よろしければ: | ご承認いただければ:",
        "ko": "실행하지 않겠습니다: | 실행할 수 없습니다: | 이 호출은 하지 않겠습니다: | 실행을 거부합니다: | 실행하지 않을 것입니다: | 동의하시면 이렇게 호출하겠습니다: | "
        "확인해 주시면 실행하겠습니다: | 승인하시면 실행할게요: | 허락하시면 호출하겠습니다: | 확인 후 실행하겠습니다: | 이것을 실행하지 않겠습니다: | 동의하시면: | 승인 후:",
    },
    "label": {
        "en": "Example: | Examples: | Usage: | Syntax: | Sample call: | From the docs: | Template: | An example: | "
        "Example usage: | Example tool call: | Wrong: | Bad: | Incorrect: | The usage: | Example 1: | Sample output:",
        "de": "Beispiel: | Aufbau: | Dokumentation: | Syntax: | Beispielaufruf: | Ein Beispiel: | Aus der Dokumentation: | "
        "Falsch: | Schlecht: | Muster: | Vorlage: | Beispiele: | Beispiel 2:",
        "fr": "Exemple : | Syntaxe : | Utilisation : | Modèle : | Exemple d'appel : | Un exemple : | Format : | "
        "Documentation : | Faux : | Incorrect :",
        "es": "Ejemplo: | Formato: | Sintaxis: | Uso: | Plantilla: | Ejemplo de llamada: | Documentación: | Incorrecto: | "
        "Mal: | Un ejemplo:",
        "pt": "Exemplo: | Sintaxe: | Formato: | Uso: | Modelo: | Exemplo de chamada: | Documentação: | Errado: | Incorreto: | "
        "Um exemplo: | Exemplo 4:",
        "it": "Esempio: | Sintassi: | Formato: | Uso: | Modello: | Esempio di chiamata: | Documentazione: | Sbagliato: | "
        "Errato: | Un esempio: | Esempio 5:",
        "ru": "Пример: | Синтаксис: | Формат: | Использование: | Шаблон: | Пример вызова: | Документация: | Неправильно: | "
        "Неверно: | Примеры:",
        "zh": "示例： | 例子: | 格式： | 语法： | 用法： | 文档： | 错误写法： | 错误： | 调用示例： | 示例1:",
        "ja": "例： | 使用例： | 構文： | 形式： | 呼び出し例： | サンプル： | 悪い例： | 書式： | 使い方： | 例2:",
        "ko": "예시: | 예: | 형식: | 사용법: | 호출 예시: | 문법: | 잘못된 예: | 사용 예: | 문서: | 예시 3:",
    },
    "form": {
        "en": "A call looks like this: | It is written as: | You can call it like so: | The syntax is: | "
        "The format of a call is: | The format is: | It is written like this: | This is what a call looks like: | "
        "The syntax is as follows: | A tool call has the following form: | The structure of a request is: | Call it like:",
        "de": "So sieht ein Aufruf aus: | Ein Aufruf sieht so aus: | Das schreibt man so: | Das Format lautet: | "
        "Die Syntax ist: | Es wird so geschrieben: | Das Format ist wie folgt: | Die Schreibweise ist: | "
        "Die Syntax lautet wie folgt: | Das sähe so aus:",
        "fr": "Un appel ressemble à ceci : | Cela s'écrit ainsi : | Le format est le suivant : | La syntaxe est : | "
        "Voici comment on l'écrit : | On l'écrit comme ceci : | Cela ressemble à ceci: | Un appel s'écrit ainsi:",
        "es": "Se ve así: | Así se escribe una llamada: | La sintaxis es: | El formato es el siguiente: | "
        "El formato correcto es: | Se escribe así:",
        "pt": "O formato é o seguinte: | A sintaxe é: | Escreve-se assim: | Uma chamada parece-se com isto: | "
        "É assim que se escreve: | O formato correto é:",
        "it": "Si scrive così: | Il formato è il seguente: | Una chiamata ha questo aspetto: | La sintassi è: | "
        "Ecco come si scrive: | Viene scritto così: | Il formato corretto è: | Ha questa forma:",
        "ru": "Вызов выглядит так: | Формат следующий: | Это пишется так: | Синтаксис такой: | Вот как это записывается: | "
        "Вызов имеет следующий вид: | Формат такой: | Так пишется вызов: | Это записывается так:",
        "zh": "格式如下： | 写法是： | 工具调用的格式为： | 调用形如： | 语法是： | 应该这样写： | 调用看起来像这样： | 它是这样写的： | 形如:",
        "ja": "次のように書きます： | 形式は次のとおりです： | 次のような形式です： | 構文は次のとおりです： | 書き方は次のとおりです： | 呼び出しはこのような形になります： | このように書きます:",
        "ko": "형식은 다음과 같습니다: | 이렇게 씁니다: | 다음과 같이 작성합니다: | 구문은 다음과 같습니다: | 호출은 이런 형태입니다: | 이렇게 작성합니다: | 호출은 이렇게 생겼습니다: | "
        "형식은 이렇습니다: | 이렇게 생겼습니다:",
    },
    "example": {
        "en": "For example: | For instance, | e.g. | Here is an example: | This is an example of a call: | A call such as:",
        "de": "Zum Beispiel: | Hier ist ein Beispiel: | Ein Beispiel für einen Aufruf: | Beispielsweise: | "
        "Ein Aufruf wie etwa: | z. B.:",
        "fr": "Par exemple : | Voici un exemple : | Un appel tel que :",
        "es": "Por ejemplo: | Un ejemplo de llamada es: | Este es un ejemplo:",
        "pt": "Por exemplo: | Aqui está um exemplo: | Um exemplo de chamada é: | Este é um exemplo:",
        "it": "Per esempio: | Ecco un esempio: | Ad esempio: | Questo è un esempio:",
        "ru": "Например: | Вот пример: | К примеру:",
        "zh": "例如： | 比如： | 举个例子： | 下面是一个示例： | 这是一个例子：",
        "ja": "これは例です： | 例えば： | ツール呼び出しの例です。 | 以下は例です。",
        "ko": "예를 들어: | 예를 들면 다음과 같습니다. | 다음은 예시입니다: | 다음은 호출의 예입니다: | 예컨대: | 예를 들면:",
    },
    "announcement": {
        "en": "I'll check: | I am calling it: | Let me look: | I need to read the file: | I'm running it now: | "
        "I will use the tool: | Calling the tool now: | Running it: | I can look that up: | Let's see: | "
        "I'll check the example.com page: | Let me look at the docs: | I need to read the file, for example:",
        "de": "Ich prüfe das: | Ich rufe es jetzt auf: | Lass mich nachsehen: | Ich werde das Wetter abrufen: | "
        "Ich schaue nach: | Ich muss die Datei lesen: | Wird jetzt aufgerufen: | Ich führe das jetzt aus: | "
        "Ich prüfe das Beispiel. | Lass mich die Dokumentation lesen: | Dazu rufe ich das Wetter ab:",
        "fr": "Je vérifie : | Je vais vérifier : | Laissez-moi regarder : | J'appelle l'outil : | Je lance la recherche : | "
        "Je dois lire le fichier : | J'exécute maintenant : | Je vais lire le fichier, par exemple : | "
        "Laissez-moi vérifier l'exemple :",
        "es": "Voy a comprobarlo: | Déjame ver: | Lo ejecuto ahora: | Llamo a la herramienta: | Necesito leer el archivo: | "
        "Vamos a ver: | Estoy ejecutándolo: | Voy a leer el ejemplo: | Déjame ver, por ejemplo:",
        "pt": "Vou verificar: | Deixe-me ver: | Executo agora: | Estou chamando a ferramenta: | Preciso ler o arquivo: | "
        "Vamos ver: | Chamo a ferramenta: | Vou ler o exemplo: | Deixe-me ver, por exemplo:",
        "it": "Controllo subito: | Fammi vedere: | Lo eseguo ora: | Chiamo lo strumento: | Devo leggere il file: | "
        "Sto per eseguirlo: | Lasciami controllare: | Devo leggere un esempio: | Fammi vedere, per esempio:",
        "ru": "Сейчас проверю: | Я посмотрю: | Вызываю инструмент: | Выполняю: | Давайте проверим: | Я запускаю это: | "
        "Позвольте посмотреть: | Сейчас посмотрю пример: | Я прочитаю, например, файл:",
        "zh": "我来查询： | 让我看看： | 我将调用工具： | 正在执行： | 我现在调用它： | 我会检查： | 我需要读取文件： | 我来读取示例文件,例如: | 让我查一下格式如下的文件:",
        "ja": "確認します： | 調べてみます： | ツールを呼び出します： | 実行します： | 見てみましょう： | 検索します： | これから実行します： | 例えば天気を確認します: | の例を調べてみます:",
        "ko": "확인하겠습니다: | 찾아볼게요: | 도구를 호출하겠습니다: | 실행합니다: | 살펴볼게요: | 지금 실행하겠습니다: | 조회합니다: | 예를 들면 날씨를 확인하겠습니다: | 예시 파일을 읽어 볼게요:",
    },
}
"""kind -> language -> sentences."""
