"""Tests of the gateway, over loopback and with real servers. They need the extra `gateway`."""
