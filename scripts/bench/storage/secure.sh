# SPDX-License-Identifier: GPL-2.0
# Sourced by guest-storage: encryption, for the transports tcp-tls, and tcp and iwmpa through ESP
# and WireGuard. ESP and NVMe's TLS have AES-GCM with keys of 128 bits, NFS's TLS of 256 bits;
# WireGuard has ChaCha20-Poly1305.
# shellcheck shell=bash

# ESP in transport mode between the ends of the veth pair, with keys by hand; nothing passes in
# clear.
esp_made=
esp_make() {
  [ -z "$esp_made" ] || return 0
  local pair key
  key="rfc4106(gcm(aes)) 0x$(printf '%040d' 7) 128"
  modprobe -q aesni-intel
  modprobe -a xfrm_user esp4 || return 1
  for pair in "$veth_client dst $veth_server" "$veth_server dst $veth_client"; do
    # shellcheck disable=SC2086 # words
    ip xfrm state add src $pair proto esp spi 0x77 mode transport aead $key &&
      ip xfrm policy add src $pair dir out tmpl src $pair proto esp mode transport level required &&
      ip xfrm policy add src $pair dir in tmpl src $pair proto esp mode transport level required ||
      return 1
  done
  esp_made=1
}

# WireGuard over the veth pair: one device for each end, with the devices' own routes.
wireguard_made=
wireguard_make() {
  [ -z "$wireguard_made" ] || return 0
  local i other names=(wgnear wgfar) ends=("$veth_client" "$veth_server") keys=()
  modprobe wireguard || return 1
  for i in 0 1; do
    keys[i]=$(wg genkey) && ip link add "${names[i]}" type wireguard || return 1
  done
  for i in 0 1; do
    other=$((1 - i))
    wg set "${names[i]}" private-key <(echo "${keys[i]}") listen-port $((51820 + i)) \
      peer "$(wg pubkey <<<"${keys[other]}")" endpoint "${ends[other]}:$((51820 + other))" \
      allowed-ips 10.9.2.0/24 || return 1
  done
  pair_make wgnear 10.9.2.2 wgfar 10.9.2.1 111 && linked=("${names[@]}") address=10.9.2.1 &&
    wireguard_made=1
}

# TLS: the daemon that makes the handshakes for the kernel, with a certificate for NFS and a key
# that both ends of NVMe know.
tls_host=nqn.2014-08.org.nvmexpress:uuid:00000000-0000-4000-8000-000000000001
tls_made=
tls_make() {
  [ -z "$tls_made" ] || return 0
  command -v tlshd || { echo "no tlshd: install ktls-utils (Debian 13)"; return 1; } >&2
  modprobe -q aesni-intel
  modprobe -a tls nvme-keyring || return 1
  openssl req -x509 -newkey rsa:2048 -nodes -days 36500 -subj /CN=server.test \
    -addext "subjectAltName=DNS:server.test,IP:$address" -keyout /run/tls.key -out /run/tls.crt &&
    nvme gen-tls-key --hmac=1 --identity=1 --subsysnqn="$nqn" --hostnqn=$tls_host --insert ||
    return 1
  cat >/run/tlshd.conf <<CONF
[debug]
loglevel=0
[authenticate]
keyrings=.nvme
[authenticate.client]
x509.truststore=/run/tls.crt
[authenticate.server]
x509.certificate=/run/tls.crt
x509.private_key=/run/tls.key
CONF
  tlshd -c /run/tlshd.conf -s 2>/run/tlshd.log &
  tls_made=1
}
