# SPDX-License-Identifier: GPL-2.0
# Targets: make help. The kernel's own build reads Kbuild, beside this file.
#
# Settings, in the environment or on the command line:
#   KERNEL=6.1|6.12|7     Debian's kernel to build for and to boot (default: the machine's: 6.1 on Debian 12, 6.12 on 13; others are fetched, not installed);
#                         KERNEL=6.1-oldest is the oldest release of 6.1 that Debian's archive still has
#   ARCH=arm64|s390x|ppc64el  make unit: build for this architecture, and run in QEMU; also make modules, scenarios and kernels
#   ARCH=riscv64          the same without scenarios and kernels
#   FAR_ARCH=s390x        make interop: the far guest is of this architecture
#   KVER=6.1.0-NN-amd64   one release of it, whose headers are installed (default: the newest)
#   T=NAME                only the scenarios (make scenarios, applications), rows (make network), stages (make kernels) or cases (make package-check)
#                         whose name contains NAME
#   HOST=1                make demo on the running kernel instead of in a guest
#   ROWS="SELECTION,..."  make bench*: only the rows that have all words of a selection (scripts/bench/run -l lists them)
#   FUZZ_SECONDS=N        make fuzz: seconds for each target (default: 60)
#   FUZZ_SEED=N           make fuzz: the seed of the inputs (default: a new one each time)
#   FULL=1                make fresh also runs make check
#   KEY=NAME              make repository: the secret key of GnuPG to sign with
#   REPOSITORY=DIR        make repository: where the repository is (default: build/repository)
#   HOURS=N               make soak: how long (default: 1)
#   IWMPA_CACHE=DIR       where kernel sources and kernels are kept (default: ~/.cache/iwmpa)

SHELL := /bin/bash
MAKEFLAGS += --no-builtin-rules
export KERNEL KVER T HOST FULL FUZZ_SECONDS FUZZ_SEED ROWS KEY REPOSITORY HOURS IWMPA_CACHE

ifneq ($(words $(CURDIR)),1)
$(error the path of this folder holds a space, which the kernel's build cannot handle: move it)
endif

ifneq ($(filter install uninstall,$(MAKECMDGOALS)),)
ifneq ($(shell id -u),0)
$(error 'make $(MAKECMDGOALS)' writes to /lib/modules and /usr/local: run it as root)
endif
endif

# As many jobs as there are processors, unless make was told a number.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 } /^#   [A-Z]/ { s = s "\n" substr($$0, 3) } \
		END { print s }' $(firstword $(MAKEFILE_LIST))

.PHONY: modules
modules: ## build mpa.ko and iwmpa.ko for the kernel, in this folder
	+@scripts/kernel build $(JOBS) M=$(CURDIR) W=1 modules

.PHONY: demo
demo: ## run real RDMA programs between two hosts in a guest (HOST=1: on this kernel); print a table
	@scripts/demo

.PHONY: check
check: ## every test: unit, static, kunit, scenarios, conformance; installs what is missing
	@scripts/check

.PHONY: unit static lint kunit scenarios
unit: ## the pure files and the tools, in user space under ASan and UBSan
	@scripts/check unit
static: ## the gates: W=1 with gcc and clang, sparse, checkpatch, kernel-doc, imports, layers, shell
	@scripts/check static
lint: ## the gates that take seconds, on the files that you changed
	@scripts/lint
kunit: ## KUnit suites in a User Mode Linux kernel with KASAN and lockdep
	@scripts/check kunit
scenarios: ## tests/scenarios/*.sh in a guest on the stock kernel (T=NAME selects)
	@scripts/check scenarios

.PHONY: kernels
kernels: ## build and test on each of Debian's kernels (KERNEL, T select): one table
	@scripts/kernels

.PHONY: applications ulps
applications: ## longer tests of storage and applications: tests/applications and the short scenarios of the same kinds (T=NAME selects)
	@scripts/check applications
ulps: applications # the old name

.PHONY: network
network: ## transfers over each kind of link, route, packet scheduler and setting of TCP, a row for each (T=NAME, KERNEL select)
	@scripts/check network

.PHONY: debug kcsan soak
debug: ## scenarios and churn on a kernel with KASAN, lockdep, kmemleak and debug objects, four CPUs (T=NAME selects)
	@scripts/check debug
kcsan: ## the same on a kernel that looks for data races (T=NAME selects)
	@scripts/check kcsan
soak: ## the churn for HOURS on the debug kernel, beside a transfer whose data are compared
	@CHURN_SECONDS=$$(($${HOURS:-1} * 3600)) T=churn scripts/check debug

.PHONY: interop
interop: ## two guests on one wire, iwmpa and siw at either end: programs, storage, connections
	@scripts/interop

.PHONY: conformance conformance-siw documents fuzz
conformance: ## run the tests that show requirements; print a table of requirements: passed, failed, not shown
	@TAGGED=1 scripts/check unit kunit scenarios conformance; status=$$?; cat build/logs/conformance.log; exit $$status
conformance-siw: ## the wire peer against siw, which shows that the peer is right
	@scripts/conformance-siw
documents: ## regenerate parts of the pages: conformance.md from its rows and the tests' names, the lists of counters
	@scripts/documents
fuzz: ## libFuzzer over the parsers, and over the modules in User Mode Linux, FUZZ_SECONDS for each target
	@scripts/fuzz

.PHONY: prove
prove: ## models of the lock-free parts (Spin), pairs of barriers (herd7), the pure files with any input (Frama-C), and mutants that lack a barrier, step or check
	@scripts/prove

.PHONY: intree
intree: ## lay mpa and iwmpa into Debian's kernel source (KERNEL=7, 6.12) as patches in build/intree, and build each there
	@scripts/intree

.PHONY: faults
faults: ## every allocation under the modules fails once, in User Mode Linux with KASAN and kmemleak; a table
	@scripts/faults

.PHONY: bench bench-compare bench-tables bench-cpus bench-link bench-link-commit bench-veth bench-veth-commit bench-native bench-commit
bench: ## instructions per octet, round trip and I/O: iwmpa, siw, TCP (ROWS="nvme tcp,nfs": part of it)
	@scripts/bench/run
bench-compare: ## the same, and list the rows that cost over 3 % more than in the committed table
	@scripts/bench/run --compare
bench-tables: ## the tables of the committed figures, without measuring (KERNEL, ROWS)
	@scripts/bench/run --tables
bench-cpus: ## the ratio to TCP with 1, 2 and 4 CPUs and 1 to 8 connections, and of NVMe with each end on its own CPUs
	@ROWS=cpus scripts/bench/run
bench-link: ## NVMe and NFS over a link with a delay: time, latency and TCP segments for each I/O (KERNEL, ROWS="nvme delay=20")
	@scripts/bench/run --link
bench-link-commit: ## the same, and put the figures into Documentation/performance.tsv and the pages (KERNEL, ROWS)
	@scripts/bench/run --link --record
bench-veth: ## iwmpa, TCP and rxe (Soft RoCE) over a veth pair: verbs, NVMe, NFS, and loss of packets (KERNEL, ROWS="veth rxe nvme")
	@ROWS="$(or $(ROWS),veth)" scripts/bench/run
bench-veth-commit: ## the same, and put the figures into Documentation/performance.tsv and the pages (KERNEL, ROWS)
	@ROWS="$(or $(ROWS),veth)" scripts/bench/run --record
bench-native: ## the ratios in time, on this machine's own CPU (User Mode Linux without the fault checkers)
	@scripts/bench/native
bench-commit: ## measure (ROWS), profile, and put the results into Documentation/performance*.tsv and the pages
	@scripts/bench/run --record
	@ROWS= scripts/bench/run --record -P -L >build/bench/profile.txt

.PHONY: setup setup-all
setup: ## install the Debian packages needed to build the modules for this machine and to use them (root, or sudo)
	@scripts/setup server
setup-all: ## install the packages that all targets need; each target also installs its own by itself
	@scripts/setup

# Install for the running kernel unless KVER names another.
.PHONY: install uninstall
install uninstall: export KVER := $(or $(KVER),$(shell uname -r))
install: modules ## install modules, the unit iwmpa@, man pages and linux/mpa.h, for the running kernel or KVER (root)
	+@scripts/kernel build M=$(CURDIR) INSTALL_MOD_DIR=updates CONFIG_MODULE_SIG_ALL= modules_install
	@$(MAKE) --no-print-directory install-files
	@for p in dkms tools; do sh debian/iwmpa-$$p.postinst configure; done # apply the udev rules to existing devices
	@depmod "$$KVER"
	@echo "The modules are not signed: a kernel under Secure Boot refuses them. 'make deb' gives a package, whose modules are signed."
uninstall: ## remove all of these, and the unit's devices (root)
	@[ ! -d /run/systemd/system ] || systemctl stop 'iwmpa@*.service'
	@rm -f /etc/systemd/system/*.{wants,requires}/iwmpa@*.service
	@rm -f /lib/modules/"$$KVER"/updates/{mpa,iwmpa}.ko* $(foreach f,$(files),'$(DESTDIR)$(lastword $(subst :, ,$(f)))')
	@depmod "$$KVER"

# All files that are neither programs nor modules, each as SOURCE:DESTINATION. The package installs them with the same list.
PREFIX = /usr/local
INCLUDEDIR = $(PREFIX)/include
files = \
  $(foreach n,4 7 8,$(foreach f,$(filter-out %/iwmpa-top.8 %/iwmpa-peer.8,$(wildcard Documentation/man/*.$n)),$f:$(PREFIX)/share/man/man$n/$(notdir $f))) \
  include/uapi/linux/mpa.h:$(INCLUDEDIR)/linux/mpa.h \
  tools/link/iwmpa-link:$(PREFIX)/sbin/iwmpa-link \
  tools/link/iwmpa@.service:$(PREFIX)/lib/systemd/system/iwmpa@.service \
  $(foreach f,90-iwmpa.rules 90-iwmpa-uverbs.rules,tools/link/$f:$(PREFIX)/lib/udev/rules.d/$f) \
  tools/nfs/90-iwmpa-nfs.rules:$(PREFIX)/lib/udev/rules.d/90-iwmpa-nfs.rules \
  tools/nfs/10-iwmpa-nfs.conf:$(PREFIX)/lib/sysctl.d/10-iwmpa-nfs.conf \
  tools/link/completion:$(PREFIX)/share/bash-completion/completions/iwmpa-link \
  build/mpa.pc:$(PREFIX)/share/pkgconfig/mpa.pc
.PHONY: build/mpa.pc install-files
build/mpa.pc:
	@mkdir -p build
	@printf '%s\n' 'Name: mpa' 'Description: MPA (RFC 5044) on TCP sockets: linux/mpa.h' 'Version: $(shell cat VERSION)' \
	  'Cflags: -I$(INCLUDEDIR)' >$@
install-files: build/mpa.pc
	@install -d '$(DESTDIR)/etc/iwmpa'
	@$(foreach f,$(files),install -D -m $(if $(findstring sbin/,$f),755,644) $(subst :, '$(DESTDIR),$f)' &&) true

.PHONY: deb
deb: ## Debian packages of modules (for DKMS) and tools, in build/deb, checked by lintian
	@scripts/deb
.PHONY: repository repository-check
repository: ## add the packages to an apt repository for Debian 12 and 13, signed with KEY, in build/repository
	@scripts/repository
repository-check: ## install and upgrade from such a repository in bare roots of Debian 12 and 13
	@scripts/repository-check
.PHONY: package-check
package-check: ## test the packages in a whole Debian 12 and 13, and an upgrade of one to the other, in the emulator (hours; T selects)
	@scripts/package-check

.PHONY: fresh
fresh: ## make deb and make demo (FULL=1: also make check) in bare roots of Debian 12 and 13, as root and as a user
	@scripts/fresh

.PHONY: clean
clean: ## remove everything that was built here; keep the cache
	+@-if scripts/kernel headers >/dev/null 2>&1; then scripts/kernel build M=$(CURDIR) clean; fi
	@rm -rf build
