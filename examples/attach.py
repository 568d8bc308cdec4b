#!/usr/bin/env python3
"""An app that refreshes itself, as `attach.py SOCKET APP`; needs the package `varlink` (PyPI)."""
import sys, varlink

def refresh(trigger):
    print("refreshing:", trigger, flush=True)  # here it fetches what is new
    return "new_data"  # or "no_data", or "failed"

refreshd = varlink.Client(address=f"unix:{sys.argv[1]}")
for answer in refreshd.open("org.refreshd.App").Attach(app=sys.argv[2], _more=True):
    if answer["event"]["kind"] == "perform":
        with refreshd.open("org.refreshd.App") as call:
            call.Complete(token=answer["event"]["token"], outcome=refresh(answer["event"]["trigger"]))
