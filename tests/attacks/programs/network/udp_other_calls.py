# /// attack
# category = "network"
# kind = "stdio"
# success = "net:udp"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Sends datagrams by connect and write, sendmsg, UDP-Lite and IPv6."
# ///

import os
import socket

address = ("127.0.0.1", int("{UDP_PORT}"))


def connected():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        channel.connect(address)
        os.write(channel.fileno(), b"stolen")


def message():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        channel.sendmsg([b"stolen"], [], 0, address)


def light():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_UDPLITE) as channel:
        channel.sendto(b"stolen", address)


def mapped():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as channel:
        channel.sendto(b"stolen", ("::ffff:127.0.0.1", address[1]))


for send in (connected, message, light, mapped):
    try:
        send()
    except OSError as error:
        print("blocked", error)
