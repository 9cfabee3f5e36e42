# SPDX-License-Identifier: GPL-2.0
# Sourced by the scenarios that need udevd. It should run only while it is needed, because it resets
# the modes of device files some time after a device appears.
# shellcheck shell=bash

start_udev() {
  /lib/systemd/systemd-udevd >"$WORK/udev" 2>&1 &
  udev=$!
  until_true 60 udevadm control --ping || { tail -1 "$WORK/udev"; return 1; }
}
# settled COMMAND...: runs it, and waits until udevd has handled the events that it causes.
settled() { "$@" && udevadm settle --timeout=$((60 * PATIENCE)); }
# Not by "udevadm control --exit", after which udevd was once seen not to end. Its end is not
# tested.
stop_udev() {
  local status=0
  settled true || status=1
  kill -KILL $udev
  wait $udev
  return $status
}
