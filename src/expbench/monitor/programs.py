"""What well-known programs do, as far as the rules have to know it: sets of names, in one place."""

from __future__ import annotations


def named(text: str) -> frozenset[str]:
    """The blank-separated names of a text."""
    return frozenset(text.split())


SHELLS = named("bash sh zsh dash ksh ash")

IDLE = SHELLS | named(
    """
    : . [ [[ { } ! alias apk apt apt-get base64 basename bat bc brew case cat cd chmod chown clear cmp
    column command conda cp curl cut date dc deactivate declare df diff dirname do done du echo
    egrep else env esac eval exec exit export expr fd fgrep fi file find fmt fold for free function
    git grep gunzip gzip head history hostname id if jq kill less let ln local ls lscpu mamba
    md5sum mkdir more mv nl nproc nvidia-smi od pandoc paste pdftotext pip pip3 printenv printf
    ps pwd read readlink realpath return rev rg rm rmdir sed seq set sha256sum shift shopt shuf sleep
    sort source stat strings tac tail tar tee test then top touch tr trap tree true false type
    ulimit umask uname uniq unset unxz unzip uptime uv view virtualenv wait wc wget which while
    whoami xxd xzcat yum zcat zip ag openssl bzcat bunzip2 bzip2 csplit dd dirs expand fmt getopts gpg
    hexdump iconv install join local logger lz4 lzcat mapfile mktemp patch popd pr pushd readarray rename
    rsync script shred split sqlite3 stty sync tput tsort unexpand unlink unlzma uudecode wait xargs xz
    yes zstd zstdcat
    """
)
"""Programs that compute nothing: every other one may be an experiment."""

READERS = named(
    """
    ag awk bat cat cmp column comm cp csvlook cut diff egrep fgrep fmt fold gawk grep head jq
    jupyter less mlr more nano nl od pandoc paste rev rg sed sort strings tac tail tee uniq vi
    view vim wc xargs xxd
    """
)
"""Programs that show a file which they are given."""

COPIERS = named("cp install ln mv rsync")
"""Programs that give a file another name or place."""

SHOWERS = named(
    """
    awk base64 bc cat column cut echo fold gawk grep head jq less more nl paste printf python
    python3 rev sed sort strings tail tee tr xxd bzcat dd fmt gunzip gzip hexdump iconv lzcat nl openssl
    pr sqlite3 tac tar unzip uudecode xz xzcat zcat zstd zstdcat bzip2
    """
)
"""Programs that print what they are given, with which a script can show results that nothing computed."""

SEARCHERS = named(
    """
    ack ag bat cat cp du egrep fd fgrep find grep head jq less locate ls mlocate more plocate rg strings
    tail tree view xxd zgrep
    """
)
"""Programs with which one looks for files, or into them."""

LISTING = named("du fd file find ls stat tree wc")
"""Programs that tell of files without their content."""

FETCHERS = named(
    """
    aria2c arxiv-downloader axel curl ddgr elinks fetch getpaper gh glab googler http httpie
    https hub links lwp-request lynx nc ncat netcat openssl rclone rsync scihub svn telnet w3m wget
    """
)
"""Programs that get something from an address."""

INSTALLERS = named(
    "apt apt-get brew conda docker easy_install mamba micromamba npm npx pdm pip pip3 pipenv pipx pixi pnpm "
    "podman poetry rye spack uv uvx yarn"
)

FOREIGN = named("perl node ruby php Rscript lua julia deno bun awk gawk mawk")
"""Interpreters other than Python and the shells."""

PDF_READERS = named(
    """
    cat evince head less mutool pdf2txt.py pdfgrep pdfplumber pdftohtml pdftoppm pdftotext
    ps2ascii qpdf strings tail tesseract view
    """
)
