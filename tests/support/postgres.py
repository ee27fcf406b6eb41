"""A throw-away PostgreSQL server on loopback, for the tests that need a real one."""

import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

OWNER = "postgres"


def find_programs():
    """Return the folder of initdb and pg_ctl, or None; Debian keeps them off the PATH."""
    found = [Path(path).parent for path in [shutil.which("initdb")] if path]
    found += sorted(path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1] if found else None


@contextmanager
def server(programs):
    """Run a server with a data folder of its own; yield its port."""
    as_owner = {"user": OWNER} if os.geteuid() == 0 else {}  # it refuses to run as root
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data")
        data.mkdir()
        if as_owner:
            Path(folder).chmod(0o755)
            shutil.chown(data, OWNER)
        options = {"check": True, "cwd": folder, "stdout": subprocess.DEVNULL, **as_owner}
        subprocess.run([programs / "initdb", "-D", data, "-A", "trust", "-U", "tester", "--no-sync"], **options)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        control = [programs / "pg_ctl", "-D", data, "-w"]
        subprocess.run([*control, "-l", data / "log", "-o", settings, "start"], **options)
        try:
            yield port
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **options)
