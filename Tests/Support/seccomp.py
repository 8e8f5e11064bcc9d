"""Programs for which the kernel refuses a system call, as it does for those in a container with a seccomp profile."""

import os
from pathlib import Path

from stack_control import BINARIES

IO_URING_SETUP = 425

# Installs a filter, which the program that it becomes cannot take off, then becomes that program.
WRAPPER = """#!/usr/bin/env python3
import ctypes, errno, os, struct, sys

LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
NO_NEW_PRIVS, SECCOMP, FILTER = 38, 22, 2
# The number of the system call is the first word of what a filter sees.
lines = [(LOAD, 0, 0, 0), (JUMP_IF_EQUAL, 0, 1, {call}), (RETURN, 0, 0, ERRNO | errno.EPERM), (RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(lines), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
for arguments in (NO_NEW_PRIVS, 1, 0, 0, 0), (SECCOMP, FILTER, ctypes.byref(program), 0, 0):
    if libc.prctl(*arguments) != 0:
        sys.exit(f"no seccomp filter: {{os.strerror(ctypes.get_errno())}}")
os.execv({program!r}, [{program!r}, *sys.argv[1:]])
"""


def refuse(call: int, program: Path, wrapper: Path) -> None:
    """Makes `wrapper` a program that becomes the given one, to which the kernel refuses a system call."""
    wrapper.write_text(WRAPPER.format(call=call, program=str(program)))
    wrapper.chmod(0o755)


def programs_without(call: int, program: str, directory: Path) -> Path:
    """A directory of all programs, of which one is refused a system call: the value for HELIOGRAPH_BIN."""
    directory = directory / "bin"
    directory.mkdir()
    for path in BINARIES.iterdir():
        if path.name != program and os.access(path, os.X_OK) and path.is_file():
            (directory / path.name).symlink_to(path)
    refuse(call, BINARIES / program, directory / program)
    return directory
