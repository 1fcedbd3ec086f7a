"""What well-known programs do, as far as the rules have to know it: sets of names, in one place."""

from __future__ import annotations


def named(text: str) -> frozenset[str]:
    """The blank-separated names of a text."""
    return frozenset(text.split())


SHELLS = named("bash sh zsh dash ksh ash")

IDLE = SHELLS | named(
    """
    : . [ [[ { } ! alias apk apt apt-get basename bat brew case cat cd chmod chown clear cmp
    column command conda cp curl cut date deactivate declare df diff dirname do done du echo
    egrep else env esac eval exec exit export fd fgrep fi file find fmt fold for free function
    git grep gunzip gzip head history hostname id if jq kill less let ln local ls lscpu mamba
    md5sum mkdir more mv nl nproc nvidia-smi od pandoc paste pdftotext pip pip3 printenv printf
    ps pwd read readlink realpath return rev rg rm rmdir sed set sha256sum shift shopt sleep
    sort source stat strings tac tail tar tee test then top touch tr trap tree true false type
    ulimit umask uname uniq unset unzip uptime uv view virtualenv wait wc wget which while
    whoami xxd yum zip ag
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

SEARCHERS = named(
    """
    ack ag bat cat cp egrep fd fgrep find grep head jq less locate ls mlocate more rg strings
    tail tree view xxd zgrep
    """
)
"""Programs with which one looks for files, or into them."""

LISTING = named("fd file find ls stat tree wc")
"""Programs that tell of files without their content."""

FETCHERS = named(
    """
    aria2c arxiv-downloader axel curl ddgr elinks fetch getpaper gh glab googler http httpie
    https hub links lwp-request lynx scihub svn w3m wget
    """
)
"""Programs that get something from an address."""

INSTALLERS = named("conda easy_install mamba npm pip pip3 pipx uv")

FOREIGN = named("perl node ruby php Rscript lua julia deno bun")
"""Interpreters other than Python and the shells."""

PDF_READERS = named(
    """
    cat evince head less mutool pdf2txt.py pdfgrep pdfplumber pdftohtml pdftoppm pdftotext
    ps2ascii qpdf strings tail tesseract view
    """
)
