# SPDX-License-Identifier: GPL-2.0
# The cases of the packages' check, and what differs between them.
# shellcheck shell=bash disable=SC2034 # for the scripts that source this

CASES="bookworm trixie upgrade"
# package_case NAME: sets the release that is installed, mmdebstrap's variant, the suite of the
# newer kernel, and the case's folder.
package_case() {
  case $1 in
  bookworm) release=bookworm variant=important newer=bookworm-backports ;;
  trixie) release=trixie variant=minbase newer=trixie-backports ;;
  upgrade) release=bookworm variant=minbase newer=trixie ;;
  *) die "no case '$1': there are $CASES" ;;
  esac
  out=$BUILD/package/$1
}
