# SPDX-License-Identifier: GPL-2.0
# Targets and suites: make help. The kernel's own build reads Kbuild, beside this file.
#
# Settings, in the environment or on the command line:
#   T=NAME            only the tests, rows or kernels whose name contains NAME
#   KERNEL=6.1|6.12|7 Debian's kernel to build for and to boot; also 7.2, 6.1-oldest, -rt, -cloud
#                     (default: the machine's: 6.1 on Debian 12, 6.12 on 13)
#   KVER=RELEASE      one release of it, whose headers are installed (make install: the running one)
#   ARCH=NAME         arm64, s390x, ppc64el or riscv64, emulated: modules, unit, scenarios, kernels
#   ROWS="WORDS,..."  make bench: only rows with all words of a selection; cpus, link, veth, secure, native
#   RECORD=1          make bench: put the figures into the record, the pages and the plots
#   COMPARE=1         make bench: list the rows that cost over 3 % more than in the record
#   TABLES=1          make bench: measure nothing, print the record as tables
# Others belong to one suite: Documentation/testing.md.

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
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 } \
		/^#   [A-Z ]/ { settings = settings "\n" substr($$0, 3) } END { print settings }' $(firstword $(MAKEFILE_LIST))

.PHONY: demo check
demo: ## run real RDMA programs between two hosts in a guest (HOST=1: on this kernel)
	@scripts/demo
check: ## every test that gates: unit, static, kunit, scenarios, conformance
	@scripts/check

# A suite is a target of its name, with "#:" before its help.
stages = unit static kunit scenarios applications network debug kcsan
suites = $(stages) soak conformance interop kernels faults fuzz prove conformance-siw fresh repository-check package-check
.PHONY: test lint $(suites)
test: ## one suite: SUITE=NAME; without SUITE a list of them
	$(if $(filter-out $(suites),$(SUITE)),$(error no suite '$(SUITE)': 'make test' lists them))
	@$(if $(SUITE),$(MAKE) --no-print-directory $(SUITE),\
		awk -F ':.*#: ' '/^[a-z-]+:.*#: / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST)))
lint: ## the gates that take seconds, on the files that you changed
	@scripts/lint

$(stages):
	@scripts/check $@
unit: #: of check: the pure files and the tools, in user space under ASan and UBSan
static: #: of check: the gates: gcc, clang, sparse, checkpatch, kernel-doc, layers, shell
kunit: #: of check: KUnit suites in a User Mode Linux kernel with KASAN and lockdep
scenarios: #: of check: tests/scenarios in a guest on the stock kernel
applications: #: longer tests of storage and programs
network: #: transfers over each kind of link, route, packet scheduler and setting of TCP
debug: #: scenarios on a kernel with KASAN, lockdep, kmemleak, debug objects; four CPUs
kcsan: #: scenarios on a kernel that looks for data races

soak: #: connections, ends and hotplug for HOURS on the debug kernel
	@CHURN_SECONDS=$$(($${HOURS:-1} * 3600)) T=churn scripts/check debug
conformance: #: the tests that show requirements, and a table of these
	@TAGGED=1 scripts/check unit kunit scenarios conformance; status=$$?; cat build/logs/conformance.log; exit $$status
interop: #: two guests on one wire, iwmpa and siw at either end
	@scripts/interop
kernels: #: build and test on each of Debian's kernels: one table
	@scripts/kernels
faults: #: every allocation under the modules fails once
	@scripts/faults
fuzz: #: libFuzzer over the parsers, and over the modules in User Mode Linux
	@scripts/fuzz
prove: #: models (Spin), barriers (herd7), pure files with any input (Frama-C), mutants
	@scripts/prove
conformance-siw: #: the wire peer against siw, which shows that the peer is right
	@scripts/conformance-siw

fresh: #: make deb and make demo (FULL=1: make check) in bare roots of Debian 12 and 13
	@scripts/fresh
repository-check: #: install and upgrade from an apt repository in bare roots
	@scripts/repository-check
package-check: #: the packages in a whole Debian 12 and 13, and an upgrade (hours)
	@scripts/package-check

.PHONY: bench
bench: ## the cost beside TCP, siw and rxe (ROWS, RECORD, COMPARE, TABLES)
	@scripts/bench/$(if $(TABLES),run,$(if $(findstring native,$(ROWS)),native,run)) $(if $(RECORD),--record) $(if $(COMPARE),--compare) $(if $(TABLES),--tables)
	@$(if $(RECORD),$(if $(ROWS),,scripts/bench/run --record -P -L >build/bench/profile.txt))

.PHONY: documents intree
documents: ## regenerate the parts of pages that are made from code and tests
	@scripts/documents
intree: ## lay the modules into Debian's kernel source as patches, and build them there
	@scripts/intree

.PHONY: modules
modules: ## build mpa.ko and iwmpa.ko for the kernel, in this folder
	+@scripts/kernel build $(JOBS) M=$(CURDIR) W=1 modules

.PHONY: setup
setup: ## install the Debian packages that building and using the modules needs
	@scripts/setup server

# Install for the running kernel unless KVER names another.
.PHONY: install uninstall
install uninstall: export KVER := $(or $(KVER),$(shell uname -r))
install: packages = $(shell dpkg-query -W -f '$${db:Status-Status} $${Package} ' iwmpa-dkms iwmpa-tools 2>/dev/null)
install: modules ## install the modules and what belongs to them, for the running kernel (root)
	$(if $(filter installed,$(packages)),$(error the packages are installed: remove iwmpa-dkms and iwmpa-tools first))
	+@scripts/kernel build M=$(CURDIR) INSTALL_MOD_DIR=updates CONFIG_MODULE_SIG_ALL= modules_install
	@$(MAKE) --no-print-directory install-files
	@depmod "$$KVER"
	@for p in dkms tools; do sh debian/iwmpa-$$p.postinst configure || exit; done # existing devices
	@echo "The modules are not signed: a kernel under Secure Boot refuses them. 'make deb' gives a package, whose modules are signed."
uninstall: ## remove them, and the devices of the unit iwmpa@ (root)
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

.PHONY: deb repository
deb: ## Debian packages of modules (for DKMS) and tools, in build/deb
	@scripts/deb
repository: ## add them to an apt repository, signed with KEY, in build/repository
	@scripts/repository

.PHONY: clean
clean: ## remove everything that was built here; keep the cache
	+@-if scripts/kernel headers >/dev/null 2>&1; then scripts/kernel build M=$(CURDIR) clean; fi
	@rm -rf build
