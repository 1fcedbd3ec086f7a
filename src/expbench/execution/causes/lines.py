"""A program's output as lines that can be read: bounded, without colours, progress bars and other noise."""

from __future__ import annotations

import re

HEAD = 512 * 1024
"""Bytes that are read of a stream's beginning."""

TAIL = 1536 * 1024
"""Bytes that are read of its end; what lies between is left out."""

_LONGEST = 2000
_TERMINAL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|.\x08"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ENDS = re.compile(r"\r\n|\n|\r")

_LOCAL = {
    "No such file or directory": (
        "Datei oder Verzeichnis nicht gefunden",
        "Aucun fichier ou dossier de ce type",
        "Aucun fichier ou dossier de ce nom",
        "No existe el fichero o el directorio",
        "No existe el archivo o el directorio",
        "File o directory non esistente",
        "Ficheiro ou pasta inexistente",
        "Arquivo ou diretório inexistente",
        "Нет такого файла или каталога",
        "没有那个文件或目录",
        "沒有此一檔案或目錄",
        "そのようなファイルやディレクトリはありません",
        "그런 파일이나 디렉터리가 없습니다",
        "Nie ma takiego pliku ani katalogu",
        "Bestand of map bestaat niet",
        "Böyle bir dosya ya da dizin yok",
        "Немає такого файла або каталогу",
        "Filen eller katalogen finns inte",
    ),
    "Permission denied": (
        "Keine Berechtigung",
        "Permission non accordée",
        "Permiso denegado",
        "Permesso negato",
        "Permissão recusada",
        "Permissão negada",
        "Отказано в доступе",
        "权限不够",
        "拒絕不符權限的操作",
        "許可がありません",
        "허가 거부",
        "Brak dostępu",
        "Toegang geweigerd",
        "Erişim engellendi",
        "Відмовлено у доступі",
        "Åtkomst nekas",
    ),
    "command not found": (
        "Kommando nicht gefunden",
        "Befehl nicht gefunden",
        "commande introuvable",
        "orden no encontrada",
        "comando non trovato",
        "comando não encontrado",
        "команда не найдена",
        "未找到命令",
        "指令找不到",
        "コマンドが見つかりません",
        "명령어를 찾을 수 없음",
        "nie znaleziono polecenia",
        "opdracht niet gevonden",
        "команду не знайдено",
        "kommandot finns inte",
    ),
    "Cannot allocate memory": (
        "Nicht genügend Hauptspeicher verfügbar",
        "Ne peut allouer de la mémoire",
        "No se pudo asignar memoria",
        "Impossibile allocare memoria",
        "Não foi possível alocar memória",
        "Невозможно выделить память",
        "无法分配内存",
        "メモリを確保できません",
    ),
    "No space left on device": (
        "Auf dem Gerät ist kein Speicherplatz mehr verfügbar",
        "Aucun espace disponible sur le périphérique",
        "No queda espacio en el dispositivo",
        "На устройстве не осталось свободного места",
        "设备上没有空间",
        "デバイスに空き領域がありません",
    ),
    "Killed": ("Getötet", "Processus arrêté", "Terminado (killed)", "Убито", "已杀死", "強制終了"),
    "Segmentation fault": (
        "Speicherzugriffsfehler",
        "Erreur de segmentation",
        "Violación de segmento",
        "Ошибка сегментирования",
        "段错误",
    ),
    "Temporary failure in name resolution": (
        "Temporärer Fehler bei der Namensauflösung",
        "Échec temporaire dans la résolution du nom",
        "Fallo temporal en la resolución del nombre",
        "Временный сбой в разрешении имен",
        "域名解析暂时失败",
        "名前解決に一時的に失敗しました",
    ),
    "Name or service not known": (
        "Der Name oder der Dienst ist nicht bekannt",
        "Nom ou service inconnu",
        "Nombre o servicio desconocido",
        "未知的名称或服务",
    ),
    "syntax error": (
        "Syntaxfehler",
        "erreur de syntaxe",
        "error sintáctico",
        "errore di sintassi",
        "erro de sintaxe",
        "синтаксическая ошибка",
        "语法错误",
        "構文エラー",
    ),
}
_ENGLISH = {local: english for english, several in _LOCAL.items() for local in several}
_ANY_LOCAL = re.compile("|".join(map(re.escape, sorted(_ENGLISH, key=len, reverse=True))))


def lines_of(raw: bytes) -> list[str]:
    """The lines of a stream as a terminal would show them, one for each state of a progress bar.

    Bytes that are no UTF-8 are replaced; of long streams the head and the tail are read.
    """
    if len(raw) > HEAD + TAIL:
        raw = raw[:HEAD] + b"\n" + raw[-TAIL:]
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    text = raw.decode(encoding, "replace")
    if "\x1b" in text or "\x08" in text:
        text = _TERMINAL.sub("", text)
    return [_CONTROL.sub("", line[:_LONGEST]).rstrip() for line in _ENDS.split(text)]


def english(line: str) -> str:
    """The line with what the system and the shell say in other languages put in English."""
    if _ANY_LOCAL.search(line) is None:
        return line
    said = _ANY_LOCAL.sub(lambda match: _ENGLISH[match.group()], line)
    return re.sub(r"\s*[\uff1a]\s*|[\u00a0\s]+: ", ": ", said)
