"""Servers with messages for apps, on free ports of the loopback; a fixture starts and stops each. The package includes
the servers of TransferTests/servers."""

import pkgutil

__path__ = pkgutil.extend_path(__path__, __name__)
