"""Answers, one line of JSON for each line of JSON, what libpq makes of an address and an environment."""

import ctypes
import json
import os
import sys


class Option(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_char_p) for name in ("keyword", "envvar", "compiled", "val", "label", "dispchar")
    ] + [("dispsize", ctypes.c_int)]


def load(places):
    for place in places:
        try:
            return ctypes.CDLL(place)
        except OSError:
            pass
    sys.exit("libpq.so.5 is not to be found, neither by the system nor beside psql")


libpq = load(["libpq.so.5"] + sys.argv[1:])
Strings = ctypes.POINTER(ctypes.c_char_p)
libpq.PQconnectStartParams.argtypes = [Strings, Strings, ctypes.c_int]
libpq.PQconnectStartParams.restype = ctypes.c_void_p
libpq.PQconninfo.argtypes = [ctypes.c_void_p]
libpq.PQconninfo.restype = ctypes.POINTER(Option)
libpq.PQconninfoFree.argtypes = [ctypes.POINTER(Option)]
libpq.PQfinish.argtypes = [ctypes.c_void_p]
for name in ("PQhost", "PQport", "PQpass", "PQerrorMessage"):
    getattr(libpq, name).argtypes = [ctypes.c_void_p]
    getattr(libpq, name).restype = ctypes.c_char_p


def text(value):
    return None if value is None else value.decode("utf-8", "replace")


def resolve(address, variables):
    for name in list(os.environ):
        del os.environ[name]
    os.environ.update(variables)
    given = [] if address is None else [(b"dbname", address.encode())]
    keys = (ctypes.c_char_p * (len(given) + 1))(*[key for key, _ in given], None)
    values = (ctypes.c_char_p * (len(given) + 1))(*[value for _, value in given], None)
    # As psql calls it: a dbname that is an address is taken apart.
    connection = libpq.PQconnectStartParams(keys, values, 1)
    options = libpq.PQconninfo(connection)
    settings = {}
    n = 0
    while options and options[n].keyword:
        settings[text(options[n].keyword)] = text(options[n].val)
        n += 1
    if options:
        libpq.PQconninfoFree(options)
    answer = {"settings": settings, "error": text(libpq.PQerrorMessage(connection))}
    for name in ("PQhost", "PQport", "PQpass"):
        answer[name] = text(getattr(libpq, name)(connection))
    libpq.PQfinish(connection)
    return answer


print(json.dumps({"version": libpq.PQlibVersion()}), flush=True)
for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps(resolve(question["address"], question["variables"])), flush=True)
