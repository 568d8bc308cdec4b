"""Apache as Debian packages it: a second implementation of ranges, and of ETags for compressed replies ("...-gzip").

/files/ ranges, strong ETag; gzip where it is accepted        /uploads/ WebDAV
"""

import pathlib

from .ports import free_port
from .web import WebServer

MODULES = pathlib.Path("/usr/lib/apache2/modules")
NAMES = "mpm_event authz_core alias mime filter deflate dav dav_fs".split()
CONFIGURATION = """
ServerRoot {directory}
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
{modules}
{user}
PidFile {directory}/pid
ErrorLog {directory}/errors
Mutex pthread
DefaultRuntimeDir {directory}
DavLockDB {directory}/uploads/.locks
DocumentRoot {directory}
EnableSendfile on
AddOutputFilterByType DEFLATE text/plain
TypesConfig /dev/null
AddType text/plain .txt
<Directory {directory}>
  Require all granted
</Directory>
<Location /uploads>
  Dav on
</Location>
"""


class Apache(WebServer):
    def __init__(self, directory, is_root):
        directory.mkdir()
        self.port = free_port()
        (directory / "apache.conf").write_text(
            CONFIGURATION.format(
                directory=directory,
                port=self.port,
                modules="\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in NAMES),
                user="User www-data\nGroup www-data" if is_root else "",
            )
        )
        super().__init__(directory, ["apache2", "-f", directory / "apache.conf", "-k", "start"])

    def url(self, path):
        return f"http://127.0.0.1:{self.port}/{path}"
