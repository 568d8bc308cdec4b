"""Opens windows of one class on the X server, as `many_windows.py CLASS COUNT`, and keeps them.

With `briefly` after these it destroys each at once, and ends.
"""

import ctypes
import signal
import sys


class ClassHint(ctypes.Structure):
    _fields_ = [("instance", ctypes.c_char_p), ("name", ctypes.c_char_p)]


X11 = ctypes.CDLL("libX11.so.6")
X11.XOpenDisplay.restype = ctypes.c_void_p
X11.XDefaultRootWindow.restype = X11.XCreateSimpleWindow.restype = ctypes.c_ulong
display = ctypes.c_void_p(X11.XOpenDisplay(None))
root = ctypes.c_ulong(X11.XDefaultRootWindow(display))
name = sys.argv[1].encode()
for _ in range(int(sys.argv[2])):
    window = ctypes.c_ulong(X11.XCreateSimpleWindow(display, root, 0, 0, 50, 50, 0, 0, 0))
    X11.XSetClassHint(display, window, ctypes.byref(ClassHint(name, name)))
    X11.XMapWindow(display, window)
    if sys.argv[3:]:
        X11.XSync(display, 0)
        X11.XDestroyWindow(display, window)
X11.XSync(display, 0)
if not sys.argv[3:]:
    signal.pause()
