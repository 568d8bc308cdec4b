"""Holds the Varlink module against an implementation that is not ours: the PyPI package `varlink`.

It has both ends of org.varlink.certification: each of them passes with ours.
"""

import subprocess
import threading

import pytest
import varlink
from certification import PROGRAM
from varlink.tests import test_certification as theirs


def test_their_client_passes_with_our_server(serve, socket_path, capsys):
    serve()
    with varlink.Client.new_with_address(f"unix:{socket_path}") as client:
        theirs.run_client(client)
    printed = capsys.readouterr().out
    assert "End: {'all_ok': True}" in printed
    assert "Certification passed" in printed


def test_our_client_passes_with_their_server(socket_path):
    with varlink.ThreadingServer(f"unix:{socket_path}", theirs.ServiceRequestHandler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            subprocess.run([PROGRAM, "call", socket_path], check=True, timeout=30)
        finally:
            server.shutdown()
            thread.join()


def test_our_client_passes_with_our_server(serve, socket_path):
    serve()
    subprocess.run([PROGRAM, "call", socket_path], check=True, timeout=30)


def test_their_client_is_refused_what_is_wrong(serve, socket_path):
    serve()
    with (
        varlink.Client.new_with_address(f"unix:{socket_path}") as client,
        client.open("org.varlink.certification") as service,
    ):
        client_id = service.Start()["client_id"]
        service.Test01(client_id)
        service.Test02(client_id, True)
        with pytest.raises(varlink.VarlinkError) as wrong:
            service.Test03(client_id, 0)
        assert wrong.value.error() == "org.varlink.certification.CertificationError"
        assert wrong.value.parameters() == {"wants": {"int": 1}, "got": {"int": 0}}
        with pytest.raises(varlink.VarlinkError) as unknown:
            service.Test03("nobody", 1)
        assert unknown.value.error() == "org.varlink.certification.ClientIdError"


def test_their_client_reads_what_we_serve(serve, socket_path):
    serve()
    with varlink.Client.new_with_address(f"unix:{socket_path}") as client:
        info = client.get_interface("org.varlink.service")
        assert {"GetInfo", "GetInterfaceDescription", "InterfaceNotFound"} <= set(info.members)
        assert {"Test11", "MyType", "CertificationError"} <= set(
            client.get_interface("org.varlink.certification").members
        )
        with client.open("org.varlink.service") as service:
            info = service.GetInfo()
            assert info["product"] == "Certification"
            assert info["interfaces"] == ["org.varlink.service", "org.varlink.certification"]
            with pytest.raises(varlink.InterfaceNotFound):
                service.GetInterfaceDescription("org.example.none")
