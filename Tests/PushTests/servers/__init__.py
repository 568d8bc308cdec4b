"""Servers that have messages for apps, on free ports of the loopback, each started and ended by its fixture; and those of
TransferTests/servers, with which they are one package."""

import pkgutil

__path__ = pkgutil.extend_path(__path__, __name__)
