#!/usr/bin/env bash
# Installs Debian's packages: sourced by Scripts/install-dependencies and Scripts/install-bench-dependencies, which define `say`.

# as_root COMMAND...: runs it as root, with sudo where that is needed.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        say "needs root for: $*; become root or install sudo" >&2
        return 1
    fi
}

# What install_missing has installed.
missing=()

# install_missing PACKAGE...: installs the packages that this machine lacks, and says which.
install_missing() {
    local name
    if ! command -v dpkg-query >/dev/null; then
        say "this is no Debian: install by other means what stands for $*"
        return
    fi
    for name in "$@"; do
        if [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null || true)" != installed ]; then
            missing+=("$name")
        fi
    done
    if [ ${#missing[@]} -eq 0 ]; then
        say "all Debian packages are there"
        return
    fi
    say "installing Debian packages: ${missing[*]}"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}
