"""Servers with messages for apps, on free ports of the loopback, each started and stopped by its fixture. They form one
package with TransferTests/servers."""

import pkgutil

__path__ = pkgutil.extend_path(__path__, __name__)
