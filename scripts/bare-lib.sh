# SPDX-License-Identifier: GPL-2.0
# Bare Debian roots: what a new machine is to the project's packages and targets. The caller needs
# root, mmdebstrap and rsync.
# shellcheck shell=bash

# bare RELEASE ROOT: makes a bare root that uses this machine's mirror, proxy and name servers, with
# a user alice who may use sudo.
bare() {
  local root=$2 mirror
  # shellcheck disable=SC2016 # apt's variables
  mirror=$(apt-get indextargets --format '$(REPO_URI)' \
    'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -1)
  [ -n "$mirror" ] || die "apt knows no archive of Debian's: check /etc/apt/sources.list*"
  as_root mmdebstrap --variant=minbase \
    --include=make,git,sudo,ca-certificates,passwd "$1" "$root" "$mirror" &&
    { apt-config dump | grep -E '^Acquire::(http|https|Check)' || true; } |
      as_root tee "$root/etc/apt/apt.conf.d/99bare" &&
    as_root cp /etc/resolv.conf "$root/etc/resolv.conf" &&
    as_root chroot "$root" useradd -m -s /bin/bash alice &&
    echo 'alice ALL=(ALL) NOPASSWD: ALL' | as_root tee "$root/etc/sudoers.d/alice"
}

# bare_project ROOT USER: copies the project into the home of USER.
bare_project() {
  local home
  home=$(as_root chroot "$1" getent passwd "$2" | cut -d: -f6)
  (cd "$ROOT" && project_files) | as_root rsync -a --files-from=- "$ROOT/" "$1$home/iwmpa/" &&
    as_root chroot "$1" chown -R "$2" "$home/iwmpa"
}

# inside ROOT USER COMMAND: runs COMMAND in namespaces of its own, so that its mounts and processes
# end with it. The first process there is a shell, which waits for orphans as a machine's init does;
# su leaves them as zombies.
inside() {
  # shellcheck disable=SC2016 # for the inner shell
  as_root unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$0/proc" && mount -t sysfs -o ro sysfs "$0/sys" &&
      mount -t tmpfs tmpfs "$0/dev/shm" && mount -t devpts devpts "$0/dev/pts" &&
      chroot "$0" su - "$1" -c "$2"; exit $?' "$1" "$2" "$3" </dev/null
}
