"""Network namespaces: entered by the calling thread, and made with a device whose packets a program passes on."""

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import StackError

CLONE_NEWNET = 0x40000000
# From linux/if_tun.h and linux/sockios.h.
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK = 0x8914, 0x8916, 0x891C
IFF_UP = 0x1
NETMASK = "255.255.0.0"
DEVICE = b"wire"
# The wire's socket, in the folder of the ways to the namespaces.
CONTROL = "control"
OWN = "/proc/thread-self/ns/net"

_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def entered(path: str) -> Iterator[None]:
    """In the body, this thread opens sockets and starts processes in the namespace that `path` leads to; with an empty path, in its own."""
    if not path:
        yield
        return
    own = os.open(OWN, os.O_RDONLY)
    try:
        other = os.open(path, os.O_RDONLY)
    except OSError as error:
        os.close(own)
        raise StackError("the wire that held the hosts is gone: take the stack `down`") from error
    try:
        _checked(_libc.setns(other, CLONE_NEWNET))
        try:
            yield
        finally:
            _checked(_libc.setns(own, CLONE_NEWNET))
    finally:
        os.close(own)
        os.close(other)


def make(address: str) -> tuple[int, int]:
    """A new namespace, and its only device besides loopback, which has this address; both live as long as these descriptors.

    Returns the namespace and the device: what is read from the device is a packet that a process of the namespace sends; what is
    written there is one that it receives. Raises OSError where the system does not allow it.
    """
    own = os.open(OWN, os.O_RDONLY)
    try:
        _checked(_libc.unshare(CLONE_NEWNET))
        try:
            namespace = os.open(OWN, os.O_RDONLY)
            device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", DEVICE, IFF_TUN | IFF_NO_PI))
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
                for request, value in ((SIOCSIFADDR, address), (SIOCSIFNETMASK, NETMASK)):
                    fcntl.ioctl(control, request, struct.pack("16sHH4s8x", DEVICE, socket.AF_INET, 0, socket.inet_aton(value)))
                for name in (DEVICE, b"lo"):
                    fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", name, IFF_UP))
        finally:
            _checked(_libc.setns(own, CLONE_NEWNET))
    finally:
        os.close(own)
    return namespace, device


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
