"""Which commands do what: the tables that `commands.py` reads."""

from paddock.insight.phases import Phase


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


WEAK = names(
    "cd export set unset source . pushd popd true false : echo printf sleep mkdir clear which type pwd"
    " ulimit umask test [ [[ for case select declare local alias shopt trap wait exit return read date"
    " function hash let"
)
"""They only count where nothing else is run."""

KEYWORDS = names("if then elif else while until do ! { time coproc && ||")
CLOSERS = names("fi done esac } in ]] ]")

_PLAIN_WRAPPERS = names("nohup exec command builtin setsid doas unbuffer chronic gtime catchsegv winpty cross-env")
WRAPPERS: dict[str, str] = {
    **dict.fromkeys(_PLAIN_WRAPPERS, ""),
    "sudo": "-u -g -h -p -C -D -r -t -T --user --group --chdir",
    "env": "-u -C -S --unset --chdir",
    "timeout": "-s -k --signal --kill-after",
    "gtimeout": "-s -k --signal --kill-after",
    "time": "-f -o",
    "nice": "-n --adjustment",
    "ionice": "-c -n -p",
    "chrt": "-p",
    "stdbuf": "-i -o -e",
    "xargs": "-I -n -P -d -L -a -s -E --max-args --max-procs --delimiter --replace",
    "watch": "-n --interval",
    "strace": "-o -e -p -s",
    "xvfb-run": "-s -n -e --server-args",
    "runuser": "-u -g",
    "proxychains4": "-f",
    "npx": "-p --package",
    "bunx": "-p --package",
    "uvx": "--from --with --python -p",
    "pipx": "--spec --python",
    "dotenv": "-e -f",
}
"""Commands that run the one that follows, each with those of its options that take a value of their own."""

COUNTED_WRAPPERS = frozenset({"timeout", "gtimeout"})
"""Their first argument is not the command."""

RUNNERS: dict[tuple[str, str], str] = {
    ("uv", "run"): "--with --python -p --extra --group --project --directory --env-file --package",
    ("poetry", "run"): "-C --directory",
    ("pipenv", "run"): "",
    ("pdm", "run"): "-p",
    ("rye", "run"): "",
    ("pixi", "run"): "-e --environment --manifest-path",
    ("hatch", "run"): "",
    ("bundle", "exec"): "",
    ("pnpm", "exec"): "--filter -C",
    ("pnpm", "dlx"): "",
    ("yarn", "exec"): "",
    ("yarn", "dlx"): "",
    ("npm", "exec"): "",
    ("bun", "x"): "",
    ("pipx", "run"): "--spec",
    ("mise", "exec"): "",
    ("conda", "run"): "-n -p --name --prefix",
    ("mamba", "run"): "-n -p",
    ("micromamba", "run"): "-n -p",
    ("coverage", "run"): "--source --omit --include --rcfile --data-file",
    ("docker", "exec"): "-e -u -w --env --user --workdir",
    ("podman", "exec"): "-e -u -w --env --user --workdir",
    ("kubectl", "exec"): "-n -c --namespace --container",
    ("direnv", "exec"): "",
}
"""Two words that run the command that follows."""

NAMED_RUNNERS = frozenset({("docker", "exec"), ("podman", "exec"), ("kubectl", "exec"), ("direnv", "exec")})
"""What follows is where to run it, then the command."""

SHELLS = names("bash sh zsh dash ksh ash fish pwsh powershell")

_BY_PHASE: dict[Phase, str] = {
    Phase.SEARCH: (
        "grep egrep fgrep zgrep rg ag ack find fd fdfind locate ls ll la dir tree exa eza fzf search_dir"
        " search_file find_file whereis ctags sg ast-grep semgrep gci get-childitem select-string"
    ),
    Phase.READ: (
        "cat head tail less more bat batcat nl wc od xxd hexdump strings file jq yq diff cmp comm sort uniq"
        " cut column tac rev fold awk gawk sed stat md5sum sha256sum sha1sum cksum open goto scroll_up"
        " scroll_down zcat gzcat xmllint objdump readelf nm ldd base64 tr paste view get-content gc type most"
        " scroll"
    ),
    Phase.EDIT: (
        "edit patch ed ex vim vi nano emacs apply_patch applypatch insert str_replace replace undo_edit dos2unix"
    ),
    Phase.CREATE: "create tee",
    Phase.TEST: (
        "pytest py.test tox nox nosetests nose2 unittest trial stestr zope-testrunner jest vitest mocha ava"
        " tap jasmine karma cypress wdio ctest bats rspec minitest phpunit pest behat cucumber behave robot"
        " gotestsum cargo-nextest runtests runtests.py runtests.sh run_tests run_tests.py run_tests.sh"
        " run-tests run-tests.sh test.sh tests.sh runtest.py mutmut testem kaocha prove shellspec bin/test"
    ),
    Phase.BUILD: (
        "make gmake cmake ninja meson bazel bazelisk buck buck2 gcc g++ cc c++ clang clang++ ld ar rustc"
        " javac kotlinc scalac ghc tsc swc esbuild webpack rollup vite parcel turbo nx lerna gulp grunt mvn"
        " mvnw gradle gradlew ant sbt msbuild xcodebuild mypy pyright ruff flake8 pylint black isort autopep8"
        " yapf bandit pycodestyle pyflakes eslint prettier biome oxlint stylelint standard golangci-lint gofmt"
        " goimports staticcheck rustfmt clippy-driver clang-format clang-tidy cppcheck shellcheck shfmt"
        " hadolint yamllint markdownlint rubocop phpstan psalm pre-commit lefthook apt apt-get apk yum dnf"
        " zypper pacman brew port snap conda mamba micromamba pip pip3 pipx gem cpan cpanm opam luarocks cabal"
        " stack mix rebar3 nuget helm terraform configure autoreconf autoconf automake dpkg rpm nix nix-build"
        " nix-env asdf rustup nvm pyenv 2to3 cython f2py protoc buf sphinx-build mkdocs pdflatex latexmk"
        " xelatex corepack playwright-install easy_install virtualenv venv as nasm wasm-pack pkg-config"
    ),
    Phase.FS: (
        "mkdir cp mv rm rmdir touch chmod chown chgrp ln tar zip unzip gzip gunzip bzip2 xz zstd 7z unrar dd"
        " mktemp rename truncate install du df mount umount realpath readlink basename dirname split shred"
        " sync cd pushd popd pwd trash rsync xattr setfacl getfacl cpio fallocate mkfs losetup mkfifo"
    ),
    Phase.NET: (
        "curl wget http https xh aria2c ssh scp sftp ftp ping nc ncat netcat nslookup dig host traceroute"
        " telnet openssl gh glab hub nmap socat ip ifconfig ss netstat lynx w3m links huggingface-cli hf gdown"
        " gsutil aws gcloud az kaggle tea invoke-webrequest iwr s3cmd rclone whois curlie iptables"
    ),
    Phase.SUBMIT: "submit finish final_answer exit_context exit_cost exit_format exit_error exit_forfeit",
    Phase.GIT_READ: "tig",
}
PHASE_OF_COMMAND: dict[str, Phase] = {name: phase for phase, known in _BY_PHASE.items() for name in known.split()}

INTERPRETERS = names(
    "python python2 python3 pypy pypy3 ipython node nodejs deno bun ruby perl php java julia lua rscript"
    " r racket sbcl tsx ts-node dart elixir escript groovy scala kotlin swift octave tclsh guile uv py"
)

GIT_READS = names(
    "status diff log show blame rev-parse ls-files ls-tree cat-file describe shortlog reflog rev-list"
    " merge-base for-each-ref show-ref fetch ls-remote whatchanged name-rev diff-tree diff-index"
    " diff-files count-objects var cherry range-diff check-ignore show-branch version help annotate"
    " verify-commit fsck symbolic-ref clone check-attr bisect-log hash-object --version --help"
)
GIT_BOTH = {
    "branch": names("-d -D -m -M -c -C -f --delete --move --copy --force -u --set-upstream-to --unset-upstream"),
    "remote": names("add remove rm rename set-url set-head prune"),
    "config": names("--add --unset --unset-all --replace-all set unset"),
    "stash": names("push pop apply drop clear save branch -u -m -k --keep-index"),
    "tag": names("-a -d -s -m -f --delete --annotate --force"),
    "worktree": names("add remove prune move"),
    "notes": names("add remove append edit"),
    "submodule": names("add update init deinit sync"),
    "bisect": names("start good bad reset run skip"),
}
"""Commands of git that only look, unless one of these words follows."""
GIT_VALUES = names("-C -c --git-dir --work-tree --namespace --exec-path --config-env")
