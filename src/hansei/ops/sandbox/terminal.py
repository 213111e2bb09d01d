"""Keeping a sandboxed program from typing into our terminal.

A program may push characters into the input of its terminal (`TIOCSTI`), and the shell outside
would run them once it is back. Taking the terminal away would also take away window sizes and job
control, so the kernel is told to refuse that one call: a filter in the language of seccomp.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

REFUSED_REQUESTS = (0x5412, 0x541C)
"""TIOCSTI, and TIOCLINUX, which pastes on a console."""

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _REQUEST = 0, 4, 24
"""Where the call's number, its architecture and the low half of its second argument stand."""
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001  # go on; the error EPERM
_X32 = 0x40000000
"""Calls of x86-64 with this bit are of another, rarely built kind, which is refused as a whole."""


class Interface(NamedTuple):
    """One way to call a kernel."""

    architecture: int
    ioctl: int
    marked: int | None = None
    """Numbers from here on belong to another interface."""


INTERFACES = {
    "x86_64": (Interface(0xC000003E, 16, _X32), Interface(0x40000003, 54)),
    "aarch64": (Interface(0xC00000B7, 29), Interface(0x40000028, 54)),
}
"""By machine: its own calls and those of its 32-bit programs, little-endian both."""


def forged_keys_refused(machine: str) -> bytes | None:
    """The filter; None for machines whose calls we do not know."""
    known = INTERFACES.get(machine)
    if known is None:
        return None
    blocks = [_block(interface) for interface in known]
    program = [(_LOAD, 0, 0, _ARCHITECTURE)]
    for interface, block in zip(known, blocks, strict=True):
        program.append((_EQUAL, 0, len(block), interface.architecture))
        program += block
    program.append((_RETURN, 0, 0, _REFUSE))
    return b"".join(struct.pack("<HBBI", *step) for step in program)


def _block(interface: Interface) -> list[tuple[int, int, int, int]]:
    """The steps for calls of one interface; each way through them ends in an answer."""
    requests = REFUSED_REQUESTS
    steps = [(_LOAD, 0, 0, _NUMBER)]
    rest = 2 + len(requests) + 1  # the steps from the comparison with ioctl to the last but one
    if interface.marked is not None:
        steps.append((_AT_LEAST, rest, 0, interface.marked))
    steps.append((_EQUAL, 0, len(requests) + 1, interface.ioctl))
    steps.append((_LOAD, 0, 0, _REQUEST))
    for number, request in enumerate(requests):
        steps.append((_EQUAL, len(requests) - number, 0, request))
    steps.append((_RETURN, 0, 0, _ALLOW))
    steps.append((_RETURN, 0, 0, _REFUSE))
    return steps
