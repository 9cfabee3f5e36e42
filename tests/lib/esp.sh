# SPDX-License-Identifier: GPL-2.0
# Sourced by the scenarios that encrypt: IPsec between the two hosts of two_hosts, with keys by
# hand.
# shellcheck shell=bash

# esp_between_hosts: ESP in transport mode, which both hosts require for all IPv4 packets between
# them.
esp_between_hosts() {
  local h to pair src dst key
  key="rfc4106(gcm(aes)) 0x$(printf '%040d' 7) 128"
  for h in 1 2; do
    to=10.9.0.$((3 - h))
    for pair in "10.9.0.1 10.9.0.2" "10.9.0.2 10.9.0.1"; do
      read -r src dst <<<"$pair"
      # shellcheck disable=SC2086 # name, key, length
      check "h$h: $src to $dst" \
        ip -n h$h xfrm state add src "$src" dst "$dst" \
        proto esp spi 0x77 mode transport aead $key || return 1
    done
    ip -n h$h xfrm policy add src 10.9.0.$h dst $to dir out tmpl src 10.9.0.$h dst $to proto esp \
      mode transport level required
    ip -n h$h xfrm policy add src $to dst 10.9.0.$h dir in tmpl src $to dst 10.9.0.$h proto esp \
      mode transport level required
  done
}

# esp_octets: prints how many octets have reached h2 in ESP.
esp_octets() {
  in2 ip -s xfrm state get src 10.9.0.1 dst 10.9.0.2 proto esp spi 0x77 |
    sed -n 's/^[[:space:]]*\([0-9]*\)(bytes),.*/\1/p'
}
