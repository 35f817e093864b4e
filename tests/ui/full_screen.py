# SPDX-License-Identifier: MIT
"""A minimal window manager that supports only full screen: a window that requests the whole screen gets it, and
returns to its former size."""

import ctypes

CLIENT_MESSAGE = 33
SUBSTRUCTURE_NOTIFY = 1 << 19
XA_ATOM = 4
ADD = 1


class ClientMessage(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("serial", ctypes.c_ulong),
        ("send_event", ctypes.c_int),
        ("display", ctypes.c_void_p),
        ("window", ctypes.c_ulong),
        ("message_type", ctypes.c_ulong),
        ("format", ctypes.c_int),
        ("data", ctypes.c_long * 5),
    ]


class Event(ctypes.Union):
    _fields_ = [("message", ClientMessage), ("pad", ctypes.c_long * 24)]


class Manager:
    def __init__(self):
        self.x = ctypes.CDLL("libX11.so.6")
        self.x.XOpenDisplay.restype = ctypes.c_void_p
        self.x.XInternAtom.restype = ctypes.c_ulong
        self.x.XDefaultRootWindow.restype = ctypes.c_ulong
        self.display = ctypes.c_void_p(self.x.XOpenDisplay(None))
        self.state = self.atom(b"_NET_WM_STATE")
        self.full = self.atom(b"_NET_WM_STATE_FULLSCREEN")
        self.screen = self.x.XDisplayWidth(self.display, 0), self.x.XDisplayHeight(self.display, 0)
        root = ctypes.c_ulong(self.x.XDefaultRootWindow(self.display))
        self.x.XSelectInput(self.display, root, ctypes.c_long(SUBSTRUCTURE_NOTIFY))
        self.x.XSync(self.display, 0)

    def atom(self, name):
        return self.x.XInternAtom(self.display, name, 0)

    def measure(self, window):
        root, place, width, height = (ctypes.c_ulong(), ctypes.c_int(), ctypes.c_uint(),
                                      ctypes.c_uint())
        rest = ctypes.c_uint()
        self.x.XGetGeometry(self.display, window, ctypes.byref(root), ctypes.byref(place),
                            ctypes.byref(place), ctypes.byref(width), ctypes.byref(height),
                            ctypes.byref(rest), ctypes.byref(rest))
        return width.value, height.value

    def serve(self):
        """Answers the pending requests."""
        event = Event()
        while self.x.XPending(self.display):
            self.x.XNextEvent(self.display, ctypes.byref(event))
            message = event.message
            if (message.type == CLIENT_MESSAGE and message.message_type == self.state
                    and self.full in message.data[1:3]):
                self.grant(ctypes.c_ulong(message.window), message.data[0] == ADD)

    def grant(self, window, full):
        states = (ctypes.c_ulong * 1)(self.full)
        if full:
            self.before = self.measure(window)
        width, height = self.screen if full else self.before
        self.x.XChangeProperty(self.display, window, ctypes.c_ulong(self.state),
                               ctypes.c_ulong(XA_ATOM), 32, 0, states, 1 if full else 0)
        self.x.XMoveResizeWindow(self.display, window, 0, 0, width, height)
        self.x.XSync(self.display, 0)
