#!/usr/bin/env python3
"""An app that refreshes itself: attach.py SOCKET APP, with /run/refreshd/org.refreshd for the system's socket."""
import contextlib
import sys
import varlink

def refresh(trigger):
    print("refreshing:", trigger, flush=True)  # fetch what is new here
    return "new_data"  # or "no_data", or "failed"

refreshd = varlink.Client(address=f"unix:{sys.argv[1]}")
for answer in refreshd.open("org.refreshd.App").Attach(app=sys.argv[2], _more=True):
    event = answer["event"]
    if event["kind"] == "perform":
        outcome = refresh(event["trigger"])
        with refreshd.open("org.refreshd.App") as call, contextlib.suppress(varlink.VarlinkError):  # too late
            call.Complete(token=event["token"], outcome=outcome)
