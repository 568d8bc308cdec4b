# refreshd: Background App Refresh for Linux.
#
#   make run        build, and watch a demonstration keep a git mirror fresh
#   make test       set up what the tests need, and run all of them
#   make check      the format, and the Swift tests that need no booted systemd: before a commit
#   make test-engine  the tests of the engine and of its simulator alone
#   make docc       render the documentation of RefreshKit and RefreshEngine, and fail on a warning
#   make house      print how the sources look beside the goals of the redesign
#   make fuzz       feed the programs hostile input for REFRESH_FUZZ_SECONDS (an hour), from REFRESH_FUZZ_SEED
#   make sanitize   run the Swift tests under AddressSanitizer and ThreadSanitizer
#   make bench      measure, beside a yardstick in C, systemd's timers, curl, wget, aria2 and mosquitto_sub
#   make chaos      cause each fault of Tests/Chaos on a release build, and hold its figures on this machine
#   make score      hold the plans against the best that are possible
#   make json-schema  write docs/refreshctl.schema.json from the interface files
#   make install    build for release and install below $(DESTDIR)$(PREFIX)
#   make deb        make Debian packages in .build/deb
#   make sysext     make a system extension for machines whose /usr is an image
#   make test-package  install, use, upgrade and purge these packages in a throwaway machine
#   make repeat     build the committed source again in another folder, and compare the packages
#   make test-clean  install, use, upgrade, remove and purge the package in a clean Debian
#   make test-lintian  hold the packages against the lintian of Debian 13
#   make test-rpm   install, upgrade and remove RPM packages in a throwaway machine, with the macros of systemd
#   make test-container  build the container's image on that Debian, and refresh an app in it
#   make site       render docs/ and the manual pages as static HTML in .build/site
#   make uninstall  remove what install put there; configuration and state stay
#   make format     put the sources into the project's format
#
# Each target installs the Debian packages that it needs (as root, or through sudo) and asks nothing.

PREFIX ?= /usr
SWIFT ?= swift
RELEASE := .build/release
PAGES := .build/pages
SYSTEM_UNITS := $(PREFIX)/lib/systemd/system
STRIP := -s
# What keeps refreshd small in memory: functions that the linker can move, and drop if nothing calls them; relocations of a
# bit each, which glibc knows from 2.36 on; and no table of names for libraries that nobody loads.
LIBC := $(shell getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)
LINKER_FLAGS := --gc-sections --as-needed --no-export-dynamic -z now \
  $(shell printf '2.36\n%s\n' $(LIBC) | sort -VC && echo -z pack-relative-relocs)
# Swift's runtime is part of each program, and so is the C++ library that it needs: as a shared library it would keep 0.7 MB
# of refreshd's memory busy with its tables. The linker finds the static one in this folder first; without it, the programs
# take the shared one.
STATIC_LIBRARIES := .build/static
TOOLCHAIN = $(dir $(shell readlink -f "$$(command -v $(SWIFT))"))
# The programs and their debug information name the sources as from the root of the repository, so that where it lies and
# what its folder is called make no difference. SwiftPM puts that name, in small letters, into the paths of generated
# sources; a path of a cache of Clang's modules has a hash of where they lie, so debuggers get none.
GENERATED := .build/plugins/outputs/$(shell basename '$(CURDIR)' | tr A-Z a-z)
PREFIX_FLAGS := $(foreach map,$(GENERATED)=./generated $(CURDIR)/$(GENERATED)=./generated $(CURDIR)=., \
  -Xswiftc -file-prefix-map -Xswiftc $(map)) -Xcc -ffile-prefix-map=$(CURDIR)=. \
  $(addprefix -Xswiftc -Xfrontend -Xswiftc ,-no-clang-module-breadcrumbs -disable-incremental-llvm-codegen)
RELEASE_FLAGS := -c release --static-swift-stdlib -Xswiftc -Xfrontend -Xswiftc -function-sections $(PREFIX_FLAGS) \
  -Xswiftc -use-ld=lld -Xswiftc -L$(abspath $(STATIC_LIBRARIES)) $(addprefix -Xlinker ,$(LINKER_FLAGS))
PROGRAMS := refreshd refreshctl refresh-push refresh-session
PYTHON := .build-python/bin/python

BUILD_PACKAGES := libsystemd-dev libsqlite3-dev libtomlplusplus-dev libcurl4-openssl-dev libssl-dev \
  zlib1g-dev libwayland-dev libxcb1-dev pkg-config git
TEST_PACKAGES := $(BUILD_PACKAGES) python3-venv systemd dbus dbus-user-session libpam-systemd \
  libnss-systemd gcc libc6-dev util-linux procps python3-dbusmock iproute2 nginx apache2-bin openssl curl \
  mosquitto mosquitto-clients libnginx-mod-nchan scdoc mandoc man-db python3-markdown-it bash-completion zsh fish \
  bubblewrap flatpak xdg-desktop-portal sway swaylock foot xvfb openbox python3-xdg xterm wmctrl x11-utils kwin-wayland gnome-shell gjs appstream rpm restic

.PHONY: run test fuzz sanitize bench chaos score release pages install install-files uninstall deb sysext test-package
.PHONY: repeat site test-rpm test-clean test-lintian test-container format check check-format test-engine house docc build-setup
.PHONY: test-setup json-schema

run: release
	$(SWIFT) build $(RELEASE_FLAGS) --product refresh-example
	@demo/run $(RELEASE)

release: build-setup
	$(SWIFT) build $(RELEASE_FLAGS) --product refreshd
	$(SWIFT) build $(RELEASE_FLAGS) --product refreshctl
	$(SWIFT) build $(RELEASE_FLAGS) --product refresh-worker
	$(SWIFT) build $(RELEASE_FLAGS) --product refresh-push
	$(SWIFT) build $(RELEASE_FLAGS) --product refresh-session

test: test-setup
	$(SWIFT) build --build-tests
	Tests/run

# The tests of one module run one after the other, and those of two modules side by side.
check: build-setup check-format
	$(SWIFT) build --build-tests
	Tests/swift-tests

test-engine: build-setup
	$(SWIFT) build --build-tests
	Tests/swift-tests engine

# DocC is part of the toolchain, so its plugin, which every build would have to fetch, is not needed.
docc: build-setup
	@set -e; triple=$$($(SWIFT)c -print-target-info | sed -n 's/.*"triple": "\(.*\)",/\1/p'); \
	for module in RefreshKit RefreshEngine; do \
	  $(SWIFT) build --target $$module; \
	  rm -rf .build/docc/$$module; mkdir -p .build/docc/$$module; \
	  $(TOOLCHAIN)swift-symbolgraph-extract -module-name $$module -target $$triple -I .build/debug/Modules \
	    $(addprefix -I ,$(wildcard Sources/C*)) -minimum-access-level public -output-dir .build/docc/$$module; \
	  $(TOOLCHAIN)docc convert --warnings-as-errors --fallback-display-name $$module \
	    --fallback-bundle-identifier org.refreshd.$$module --additional-symbol-graph-dir .build/docc/$$module \
	    --output-path .build/docc/$$module.doccarchive; \
	done

house:
	@/usr/bin/python3 -B bench/house.py

# Builds first, because the programs under test are those of the debug build. `make test` runs a minute of it.
fuzz: export REFRESH_FUZZ_SECONDS ?= 3600
fuzz: export REFRESH_FUZZ_SEED ?= $(shell date +%s)
fuzz: test-setup
	$(SWIFT) build --build-tests
	BIN_DIR=$(abspath .build/debug) REFRESHCTL=$(abspath .build/debug)/refreshctl \
	  $(PYTHON) -m pytest -q -n 2 --dist worksteal Tests/Fuzz
	$(SWIFT) test --skip-build --filter BridgeFuzzTests

# Each sanitizer has a build folder of its own, so that nothing else is built again. Leaks are not looked for: the
# generator of the Swift types leaves its memory to the end of its process. SystemdLauncherTests need a booted systemd, and
# the many seeds of the simulator, which has no pointers and no threads, would take half an hour. ThreadSanitizer does not
# survive the clone(2) that starts a task, so it sees the modules with threads and not the daemon.
sanitize: test-setup
	ASAN_OPTIONS=detect_leaks=0 $(SWIFT) build --build-tests --sanitize address --scratch-path .build-asan
	ASAN_OPTIONS=detect_leaks=0 .build-asan/debug/refreshdPackageTests.xctest --testing-library swift-testing \
	  --no-parallel --skip SystemdLauncherTests --skip SeedsTests
	$(SWIFT) build --build-tests --sanitize thread --scratch-path .build-tsan
	TSAN_OPTIONS=suppressions=$(CURDIR)/Tests/thread-sanitizer.supp \
	  .build-tsan/debug/refreshdPackageTests.xctest --testing-library swift-testing --no-parallel \
	  --skip SystemdLauncherTests \
	  --filter 'SystemdTests|ThreadsTests|RefreshStoreTests|VarlinkTests|RefreshConfigTests|HTTPTests|JSONTests|refresh_workerTests|refresh_pushTests'

bench: release test-setup
	$(SWIFT) build $(RELEASE_FLAGS) --product engine-bench
	$(SWIFT) build $(RELEASE_FLAGS) --product refresh-example
	$(SWIFT) build $(RELEASE_FLAGS) --product attached-bench
	$(RELEASE)/engine-bench
	/usr/bin/python3 -B bench/bench.py --programs $(RELEASE) --with-systemd Tests/with-systemd
	@demo/need nginx aria2 wget curl gcc
	/usr/bin/python3 -B bench/transfers.py --programs $(RELEASE)
	@demo/need mosquitto mosquitto-clients
	/usr/bin/python3 -B bench/push.py --programs $(RELEASE)
	@demo/need sway foot
	$(PYTHON) -B bench/sessions.py --programs $(RELEASE)

chaos: release test-setup
	BIN_DIR=$(abspath $(RELEASE)) REFRESHD_CHAOS_SLACK=1 REFRESHD_CHAOS_SECONDS=10 \
	  $(PYTHON) -m pytest -q -rP -p no:cacheprovider Tests/Chaos

score: build-setup test-setup
	$(SWIFT) build $(RELEASE_FLAGS) --product refreshctl
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check 'numpy>=2,<3'
	OMP_NUM_THREADS=1 $(PYTHON) -B bench/score.py --refreshctl $(RELEASE)/refreshctl $(SCORE)

# The manual pages: refreshctl's from its help, those of files and of how it decides from docs/, the others by hand.
pages: release
	@demo/need scdoc python3-markdown-it
	packaging/man/make $(RELEASE)/refreshctl $(PAGES)

install: pages
	$(MAKE) install-files

UNITS := refreshd.service refreshd.socket refresh-push.service
# The folder of zsh's functions is vendor-completions on Debian and site-functions elsewhere.
ZSH_FUNCTIONS := vendor-completions
SHELLS := bash-completion/completions/refreshctl zsh/$(ZSH_FUNCTIONS)/_refreshctl \
  fish/vendor_completions.d/refreshctl.fish

# Copies what `release` and `pages` have made.
install-files:
	install -d $(addprefix $(DESTDIR),$(PREFIX)/bin $(SYSTEM_UNITS) $(PREFIX)/lib/systemd/user \
	  $(addprefix $(PREFIX)/lib/systemd/,catalog system-preset user-preset) $(PREFIX)/lib/sysusers.d /etc/refreshd/apps.d \
	  $(addprefix $(PREFIX)/share/,doc/refreshd/examples doc/refreshd/docs metainfo $(dir $(SHELLS)) man/man1 man/man5 man/man7 \
	  man/man8) $(PREFIX)/libexec/refreshd)
	install $(STRIP) -m 755 $(addprefix $(RELEASE)/,$(PROGRAMS)) $(DESTDIR)$(PREFIX)/bin
	install $(STRIP) -m 755 $(RELEASE)/refresh-worker $(DESTDIR)$(PREFIX)/libexec/refreshd
	for file in $(UNITS); do \
	  sed 's,/usr/bin/,$(PREFIX)/bin/,' systemd/system/$$file > $(DESTDIR)$(SYSTEM_UNITS)/$$file && \
	  sed 's,/usr/bin/,$(PREFIX)/bin/,' systemd/user/$$file > $(DESTDIR)$(PREFIX)/lib/systemd/user/$$file || exit 1; done
	sed 's,/usr/bin/,$(PREFIX)/bin/,' systemd/user/refresh-session.service \
	  > $(DESTDIR)$(PREFIX)/lib/systemd/user/refresh-session.service
	install -d $(DESTDIR)/etc/xdg/autostart
	install -m 644 systemd/refresh-session.desktop $(DESTDIR)/etc/xdg/autostart
	packaging/gnome/make $(DESTDIR)$(PREFIX)/share/gnome-shell/extensions
	install -m 644 systemd/refreshd.catalog $(DESTDIR)$(PREFIX)/lib/systemd/catalog
	for manager in system user; do \
	  install -m 644 systemd/$$manager/90-refreshd.preset $(DESTDIR)$(PREFIX)/lib/systemd/$$manager-preset || exit 1; done
	install -m 644 packaging/org.refreshd.refreshd.metainfo.xml $(DESTDIR)$(PREFIX)/share/metainfo
	install -m 644 systemd/sysusers.d/* $(DESTDIR)$(PREFIX)/lib/sysusers.d
	test -e $(DESTDIR)/etc/refreshd/refreshd.toml || install -m 644 config/refreshd.toml $(DESTDIR)/etc/refreshd
	install -m 644 README.md CHANGELOG.md $(DESTDIR)$(PREFIX)/share/doc/refreshd
	install -m 644 docs/*.md docs/*.json $(DESTDIR)$(PREFIX)/share/doc/refreshd/docs
	install -m 644 config/push.toml config/apps.d/* systemd/spawn.conf $(DESTDIR)$(PREFIX)/share/doc/refreshd/examples
	for section in 1 5 7 8; do \
	  install -m 644 $(PAGES)/*.$$section $(DESTDIR)$(PREFIX)/share/man/man$$section || exit 1; done
	for file in $(SHELLS); do \
	  $(RELEASE)/refreshctl --generate-completion-script $${file%%[-/]*} > $(DESTDIR)$(PREFIX)/share/$$file || exit 1; done

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,$(PROGRAMS)) $(addprefix $(DESTDIR)$(SYSTEM_UNITS)/,$(UNITS)) \
	  $(addprefix $(DESTDIR)$(PREFIX)/lib/systemd/,$(addprefix user/,$(UNITS) refresh-session.service) catalog/refreshd.catalog \
	  system-preset/90-refreshd.preset user-preset/90-refreshd.preset) $(DESTDIR)$(PREFIX)/lib/sysusers.d/refreshd.conf \
	  $(addprefix $(DESTDIR)$(PREFIX)/share/,$(SHELLS) metainfo/org.refreshd.refreshd.metainfo.xml man/man1/refreshctl*.1 man/man5/refreshd.toml.5 \
	  man/man5/refreshd-app.5 man/man5/push.toml.5 man/man7/refreshd.7 man/man8/refreshd.8 man/man8/refresh-push.8 \
	  man/man8/refresh-session.8) $(DESTDIR)/etc/xdg/autostart/refresh-session.desktop
	rm -rf $(addprefix $(DESTDIR)$(PREFIX)/,share/doc/refreshd libexec/refreshd \
	  $(addprefix share/gnome-shell/extensions/,windows@refreshd windows-43@refreshd))

# The source is copied, because dpkg-buildpackage writes beside it. -d, because Debian has no Swift to depend on.
deb: pages
	@demo/need debhelper dpkg-dev bash-completion
	rm -rf .build/deb
	mkdir -p .build/deb/source/.build
	git ls-files -z | xargs -0 cp --parents --no-dereference -t .build/deb/source
	cd .build/deb/source && RELEASE=$(abspath $(RELEASE)) PAGES=$(abspath $(PAGES)) dpkg-buildpackage -b -us -uc -d
	@ls -l .build/deb/*.deb

# A system extension for machines whose /usr is an image: a file for /var/lib/extensions.
sysext: pages
	@demo/need squashfs-tools
	rm -rf .build/sysext
	$(MAKE) install-files DESTDIR=$(abspath .build/sysext/refreshd)
	packaging/sysext .build/sysext/refreshd
	mksquashfs .build/sysext/refreshd .build/sysext/refreshd.raw -all-root -noappend -quiet
	@ls -l .build/sysext/refreshd.raw

test-package: deb sysext test-setup
	@demo/need lintian
	Tests/with-systemd -b $(CURDIR) -- $(CURDIR)/$(PYTHON) -m pytest -q -p no:cacheprovider \
	  Tests/PackageTests/test_debian.py Tests/PackageTests/test_upgrade.py Tests/PackageTests/test_sysext.py

# Another clone in another folder, with the same versions of SwiftPM's two dependencies.
AGAIN := .build/again/another/folder

repeat: deb
	git diff --quiet HEAD
	rm -rf .build/again
	git clone -q . $(AGAIN)
	cp Package.resolved $(AGAIN)
	$(MAKE) -C $(AGAIN) deb
	packaging/compare .build/deb $(AGAIN)/.build/deb

# The RPM packages' scriptlets, with systemd's own macros, which Debian's source of systemd has.
test-rpm: pages test-setup
	@test -d .build/systemd-rpm/noarch || packaging/rpm/systemd .build/systemd-rpm
	Tests/with-systemd -b $(CURDIR) -- $(CURDIR)/$(PYTHON) -m pytest -q -p no:cacheprovider Tests/PackageTests/test_rpm.py

# A clean Debian (SUITE=trixie is Debian 13), made once, with what the package depends on, and one with lintian of Debian 13;
# nothing is written to them.
SUITE := $(shell . /etc/os-release && echo $$VERSION_CODENAME)
CLEAN := .build/clean-$(SUITE)
LINTIAN := .build/lintian-trixie
ROOT_PACKAGES := systemd-sysv,dbus,libpam-systemd,man-db,ca-certificates,libcurl4,libsqlite3-0,libssl3,libstdc++6,libsystemd0,zlib1g
$(LINTIAN): ROOT_PACKAGES := systemd-sysv,dbus,lintian

$(CLEAN) $(LINTIAN):
	@demo/need mmdebstrap
	rm -rf $@.part
	mmdebstrap --variant=minbase --include=$(ROOT_PACKAGES) $(lastword $(subst -, ,$@)) $@.part $(MIRROR)
	mv $@.part $@

test-clean: deb $(CLEAN)
	Tests/with-systemd -r $(CLEAN) -b $(CURDIR) -- sh -euc 'exec Tests/PackageTests/clean-machine .build/deb/refreshd_*.deb'

# As another user, because lintian warns root.
test-lintian: deb $(LINTIAN)
	Tests/with-systemd -r $(LINTIAN) -b $(CURDIR) -- setpriv --reuid=nobody --regid=nogroup --clear-groups env -C / \
	  lintian --no-cfg -EIL +pedantic --fail-on error,warning,pedantic $(CURDIR)/.build/deb/refreshd_*.changes

test-container: deb $(CLEAN)
	@demo/need buildah
	packaging/container/test $(abspath $(CLEAN))

# The first page shows a session that a release build lives through while the site is made.
site: pages
	@demo/need gcc libc6-dev mandoc python3-markdown-it
	/usr/bin/python3 -B packaging/site/session.py $(RELEASE) .build/session
	/usr/bin/python3 -B packaging/site/site.py $(PAGES) .build/session .build/site
	@echo "The site begins at .build/site/index.html."

format:
	$(SWIFT) format --in-place --recursive Sources Tests bench/Engine bench/Attached Package.swift

check-format:
	$(SWIFT) format lint --strict --recursive Sources Tests bench/Engine bench/Attached Package.swift
	! git grep -nE '^(<{7}|>{7}) '

# Writes the schema of refreshctl's JSON from the interface files.
json-schema: test-setup
	$(PYTHON) -B Tests/RefreshAPITests/json_schema.py

build-setup:
	@demo/need $(BUILD_PACKAGES)
	@mkdir -p $(STATIC_LIBRARIES)
	@library=$$(PATH="$$PATH:$(TOOLCHAIN)" clang -print-file-name=libstdc++.a); \
	  test ! -f "$$library" || ln -sf "$$library" $(STATIC_LIBRARIES)

test-setup:
	@demo/need $(TEST_PACKAGES)
	@test -x $(PYTHON) || /usr/bin/python3 -m venv .build-python
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check 'pytest>=8,<10' 'varlink==31.0.0' \
	  'prometheus_client>=0.20,<1' 'pytest-xdist>=3,<4' 'tuspyserver==4.4.3' 'fastapi==0.165.0' 'uvicorn==0.54.0' \
	  'amqtt==0.12.1' 'jsonschema>=4,<5'
