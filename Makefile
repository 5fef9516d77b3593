# Everything that is done to this tree has a target here; `make help` lists them.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-builtin-rules
.DEFAULT_GOAL := all

PREFIX   ?= $(HOME)/.local
FUZZTIME ?= 30s
# How many seconds the commands of `make figures` may take together.
BUDGET   ?= 300
# How often `make crash` kills podd, and how often a store alone.
PODD_CRASH_KILLS  ?= 500
PODD_CRASH_ROUNDS ?= 200
# How often `make upgrade-test` replaces podd, and which commit it begins with.
PODD_UPGRADES     ?= 200
FROM              ?= $(shell git describe --tags --abbrev=0 2>/dev/null || git rev-parse --quiet --verify HEAD~1 2>/dev/null)
# How many histories `make simulate` makes for each of its tests, from SEED on.
SEEDS             ?= $(if $(SEED),1,20000)
# How many faults `make chaos` makes, how many in a round, and from which seed on.
PODD_CHAOS_FAULTS ?= 1000
PODD_CHAOS_ROUND  ?= 25
PODD_CHAOS_SEED   ?= 1

TOOLS    := bin/tools
BUF      := $(TOOLS)/buf
PLUGINS  := $(TOOLS)/protoc-gen-go $(TOOLS)/protoc-gen-go-grpc $(TOOLS)/protoc-gen-pyi
LINTER   := $(TOOLS)/golangci-lint
# What the protocol was when it was last generated: buf's image of it.
BASELINE := proto/baseline.binpb
IMAGE    := $(BUF) build --exclude-source-info -o
# What sdk/python makes its classes of.
DESCRIPTORS := sdk/python/podd/v1.binpb

.PHONY: all
all: generate-check vet lint test-race ## generate-check, vet, lint and the tests with the race detector (plain `make`)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# One set of flags: programs, tests, vet and lint share what was compiled, in every clone. Only the race detector needs cgo.
# grpcnotrace: gRPC's trace pages use html/template, for which the linker keeps every method; each -tags repeats it.
export GOFLAGS     := $(strip $(GOFLAGS) $(if $(findstring -trimpath,$(GOFLAGS)),,-trimpath) -tags=grpcnotrace)
export CGO_ENABLED := 0

# The commit as git has it on disk: without the git program, the toolchain names none.
COMMIT = $(shell r=$$(sed -n 's/^ref: //p' .git/HEAD 2>/dev/null); cat ".git/$${r:-HEAD}" 2>/dev/null || \
	awk -v r="$$r" '$$2 == r { print $$1 }' .git/packed-refs 2>/dev/null)

.PHONY: build
build: ## build bin/podd, bin/podd-launch and bin/podctl, static
	@echo "building podd, podd-launch and podctl (the first time takes minutes)"
	@go build -buildvcs=auto -ldflags='-s -w -X podd/pkg/version.commit=$(COMMIT)' -o bin/ ./cmd/podd ./cmd/podd-launch ./cmd/podctl

.PHONY: demo
demo: build ## build, then watch a pod work with a scripted model
	bin/podd demo

.PHONY: demo-web
demo-web: build ## build, then watch pods work on the page for browsers; prints its address
	bin/podd demo --web

.PHONY: demo-nodes
demo-nodes: build demo-nodes-need ## build, then watch three podd share a PostgreSQL (examples/nodes/demo.sh); installs it where it is missing
	go run ./internal/testing/demonodes

# The programs that tests start, built once for all of them. With the race detector podd has it too, and podctl but for the short
# tests, which start it a thousand times.
TEST_BIN := $(CURDIR)/bin/test

# $(call TEST,FLAGS,TIME): `make vet` vets the tests. A program with the race detector sleeps for a second at its end, but for GORACE.
# One package more than there are processors: many only wait.
# A socket below a long TMPDIR would have a path that the system does not allow.
define TEST
race=$(filter -race,$(1)); cc=$$(go env CC); \
if [ -n "$$race" ] && ! command -v "$${cc%% *}" >/dev/null; then \
	echo "The race detector needs a C compiler ($$cc): the tests run without it. Install gcc to run them with it." >&2; \
	race=; \
fi; \
[ -z "$$race" ] || export CGO_ENABLED=1; \
echo "building what the tests start"; \
go build $$race -buildvcs=false -ldflags='-s -w' -tags grpcnotrace,typed -o $(TEST_BIN)/ ./cmd/podd $(if $(filter -short,$(1)),,./cmd/podctl) ./internal/testing/bench ./internal/testing/bench/floor ./internal/testing/bench/floorctl; \
CGO_ENABLED=0 go build -buildvcs=false -ldflags='-s -w' -o $(TEST_BIN)/ ./cmd/podd-launch $(if $(filter -short,$(1)),./cmd/podctl); \
echo "go test $$race $(filter-out -race,$(1)) ./... (compiling and running takes $(2) on two cores)"; \
TMPDIR=$$(t=$${TMPDIR:-/tmp}; [ $${#t} -le 50 ] || t=/tmp; echo "$$t") GORACE=atexit_sleep_ms=0 PODD_TEST_BIN=$(TEST_BIN) go test $$race -vet=off -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) -parallel 4 $(filter-out -race,$(1)) ./...
endef

.PHONY: test
test: test-need ## run all tests, the long ones in a short form; installs what they need
	@$(call TEST,-short -timeout 40m,about nine minutes)

.PHONY: test-race
test-race: test-need race-need ## make test with the race detector
	@$(call TEST,-race -short -timeout 40m,a quarter of an hour)

.PHONY: test-long
test-long: test-need race-need ## run all tests in full, with the race detector
	@$(call TEST,-race -timeout 60m,an hour)

.PHONY: nightly
nightly: test-long simulate mistakes crash chaos upgrade-test guards fuzz switch-test release-test ## run everything long, for hours; `make -k nightly` goes on after a failure

# What the tests need, as PROGRAM:DEBIAN-PACKAGE and PATH:DEBIAN-PACKAGE. Only Linux has the sandbox.
TEST_NEED := git:git python3:python3 curl:curl $(if $(filter Linux,$(shell uname)),bwrap:bubblewrap)

# What the race detector needs.
RACE_NEED := gcc:gcc /usr/include/stdlib.h:libc6-dev

# What the tests below integrations need.
INTEGRATIONS_NEED := bwrap:bubblewrap /usr/sbin/sshd:openssh-server ssh:openssh-client systemctl:systemd jq:jq rpm:rpm tmux:tmux nvim:neovim /usr/lib/postgresql:postgresql node:nodejs npm:npm /usr/lib/python3/dist-packages/pip:python3-pip chromium:chromium \
	/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf:fonts-dejavu-core /usr/lib/python3/dist-packages/grpc_tools:python3-grpc-tools

CODE_SERVER := integrations/npm/node_modules/code-server/lib/vscode/node_modules

.PHONY: test-integrations
test-integrations: $(CODE_SERVER) integrations/npm/node_modules plugins/vscode/node_modules sdk/typescript/node_modules integrations-need ## test against editors, MCP servers and clients of others; installs what it needs
	go test -tags grpcnotrace,integrations -vet=off -p $$(($$(getconf _NPROCESSORS_ONLN) + 2)) -timeout 40m ./integrations/...

.PHONY: switch-test
switch-test: integrations/switch/npm/node_modules integrations/npm/node_modules integrations-need ## do what docs/coming-from.md says with Claude Code and Codex themselves (800 MB from npm), and with podd
	go test -count=1 -tags grpcnotrace,integrations,switch -vet=off -timeout 40m ./integrations/switch

.PHONY: cast
cast: cast-need ## record docs/attach.cast, a session of podctl attach in tmux; installs tmux where it is missing
	PODD_CAST=$(CURDIR)/docs/attach.cast go test -count=1 -tags grpcnotrace,integrations -run '^TestCast$$' ./integrations/attach
	go test -count=1 -run '^TestCast$$' ./internal/testing/pages

.PHONY: golden
golden: integrations/npm/node_modules integrations-need ## make the pictures of the page's views again, below integrations/web/testdata/golden
	PODD_GOLDEN=1 go test -count=1 -tags grpcnotrace,integrations -run '^TestDemo$$' ./integrations/web

# What builds the extension of VS Code, and what records the terminal view.
NPM_NEED  := node:nodejs npm:npm
CAST_NEED := tmux:tmux bwrap:bubblewrap

# What ends podd and its store on purpose.
CRASH_NEED := bwrap:bubblewrap strace:strace /usr/lib/postgresql:postgresql

# What breaks several podd, and the clock of their database.
CHAOS_NEED := git:git bwrap:bubblewrap /usr/lib/postgresql:postgresql /usr/share/doc/libfaketime:libfaketime

# What several podd share.
DEMO_NODES_NEED := /usr/lib/postgresql:postgresql openssl:openssl

# What makes a release, beside NPM_NEED.
RELEASE_NEED := git:git ssh-keygen:openssh-client mmdebstrap:mmdebstrap

# What installs and runs the files of a release, beside INTEGRATIONS_NEED.
RELEASE_TEST_NEED := podman:podman /usr/sbin/runc:runc ruby:ruby nix:nix-bin

.PHONY: test-need race-need integrations-need npm-need cast-need crash-need chaos-need demo-nodes-need release-need release-test-need
test-need: NEED := $(TEST_NEED)
race-need: NEED := $(RACE_NEED)
integrations-need: NEED := $(INTEGRATIONS_NEED)
npm-need: NEED := $(NPM_NEED)
cast-need: NEED := $(CAST_NEED)
crash-need: NEED := $(CRASH_NEED)
chaos-need: NEED := $(CHAOS_NEED)
demo-nodes-need: NEED := $(DEMO_NODES_NEED)
release-need: NEED := $(RELEASE_NEED)
release-test-need: NEED := $(RELEASE_TEST_NEED)
test-need race-need integrations-need npm-need cast-need crash-need chaos-need demo-nodes-need release-need release-test-need:
	@packaging/need.sh $(NEED)

# npm ci makes the folder anew from the lock file. No package's script runs: what they would build is not needed here.
%/node_modules: %/package.json %/package-lock.json | npm-need
	cd $* && npm ci --silent --ignore-scripts
	mkdir -p $@ && touch $@

# code-server has VS Code's server; its packages stand in a shrinkwrap file of its own.
$(CODE_SERVER): integrations/npm/node_modules
	cd integrations/npm/node_modules/code-server/lib/vscode && npm install --silent --omit=dev --ignore-scripts
	mkdir -p $@ && touch $@

.PHONY: guards
guards: integrations/npm/node_modules integrations-need ## switch each guard against attacks, and each rule of model APIs, off in turn; its tests must fail then (20 minutes)
	PODD_GUARDS_OFF=1 go test -count=1 -timeout 60m -run TestWithoutGuards ./internal/testing/attack
	PODD_GUARDS_OFF=1 go test -count=1 -timeout 30m -run TestWithoutRules ./pkg/llm/llmtest

.PHONY: vet
vet: ## go vet, for Linux and for macOS
	go vet -tags grpcnotrace,integrations,release,switch ./...
	GOOS=darwin go vet ./...

.PHONY: lint
lint: $(LINTER) ## golangci-lint
	$(LINTER) run --allow-parallel-runners ./...

.PHONY: size
size: ## print where the code is: lines of each package, imports, the widest types, and arrows back up between files
	@go run ./internal/testing/size

.PHONY: generate
generate: $(BUF) $(PLUGINS) ## generate the Go and Python code of proto/; refuses a breaking change (see proto/README.md)
	$(BUF) format -w
	$(BUF) lint
	[ ! -e $(BASELINE) ] || $(BUF) breaking --against $(BASELINE)
	$(BUF) generate
	$(IMAGE) $(BASELINE)
	$(IMAGE) $(DESCRIPTORS) --as-file-descriptor-set

.PHONY: generate-check
generate-check: $(BUF) $(PLUGINS) ## check that the generated code is fresh and that the protocol breaks nobody
	@tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
	$(BUF) format -d --exit-code; \
	$(BUF) lint; \
	$(BUF) breaking --against $(BASELINE); \
	$(BUF) generate -o "$$tmp"; \
	$(IMAGE) "$$tmp/$(BASELINE)"; \
	$(IMAGE) "$$tmp/$(DESCRIPTORS)" --as-file-descriptor-set; \
	diff -rq -x '*.proto' -x '*.md' "$$tmp/proto" proto && cmp "$$tmp/$(DESCRIPTORS)" $(DESCRIPTORS) && cmp "$$tmp/$(DESCRIPTORS:.binpb=.pyi)" $(DESCRIPTORS:.binpb=.pyi) || { echo "The generated code is not fresh: run 'make generate' and commit what it changes." >&2; exit 1; }

# ONLY names parts of the comparison, with commas between; then the Go benchmarks are left out.
.PHONY: bench
bench: ## Go benchmarks, short, then podd beside a bare daemon of its shape; ONLY=stream: that part alone
ifeq ($(ONLY),)
	go test -run '^$$' -bench . -benchmem -benchtime 100ms $$(grep -rl --include='*_test.go' --exclude-dir=integrations '^func Benchmark' . | xargs -n1 dirname | sort -u) | grep -v '^PASS\|^ok '
	go test -tags grpcnotrace,integrations -run '^$$' -bench . -benchtime 50x -timeout 30m ./integrations/postgres | sed '/^PASS/d; /^ok /d'
endif
	go run ./internal/testing/bench -only '$(ONLY)'

.PHONY: figures
figures: ## measure again the figures of the pages that take at most BUDGET (300) seconds, and fail where a page says something better
	@go run ./internal/testing/figures -budget $(BUDGET)s

.PHONY: fuzz
fuzz: ## run each fuzz test for FUZZTIME (30s)
	@grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sed -E 's|/[^/]*:func | |' | sort -u | \
	while read -r dir name; do \
		echo "== $$dir $$name"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$dir" </dev/null; \
	done

.PHONY: simulate
simulate: ## simulate SEEDS (20000) histories of a pod for each of four tests, with kills and faults at any place, and hold each log to docs/spec.md; SEED repeats one and prints it, SEED and SEEDS begin there
	PODD_SEEDS=$(SEEDS) PODD_SEED=$(SEED) go test -count=1 -timeout 6000m $(if $(filter 1,$(SEEDS)),-v )-run '^TestAnything' ./pkg/pod

.PHONY: mistakes
mistakes: ## make each mistake of internal/spec in turn: the simulation, or the test that docs/spec.md names, must find it
	PODD_MISTAKES=1 go test -count=1 -timeout 600m -v -run '^Test(Mistakes|BrokenInvariants)AreFound$$' ./internal/spec

.PHONY: crash
crash: crash-need ## kill podd at least PODD_CRASH_KILLS (500) times on each store, fail its disk, and check what it promised (docs/reliability.md)
	PODD_CRASH_KILLS=$(PODD_CRASH_KILLS) go test -count=1 -timeout 180m -v -run '^TestCrash(OnPostgres)?$$' ./cmd/podd
	PODD_TRIGGER_KILLS=$(PODD_CRASH_KILLS) PODD_WEBHOOK_KILLS=$(PODD_CRASH_KILLS) go test -count=1 -timeout 180m -v -run '^TestKillWhile(TriggersFire|WebhooksArrive)$$' ./cmd/podd
	PODD_CRASH_ROUNDS=$(PODD_CRASH_ROUNDS) go test -count=1 -timeout 60m -v -run Crash ./pkg/store

.PHONY: chaos
chaos: chaos-need ## break three podd on one PostgreSQL in PODD_CHAOS_FAULTS (1000) ways, and check what they promised (docs/nodes.md)
	PODD_CHAOS_FAULTS=$(PODD_CHAOS_FAULTS) PODD_CHAOS_ROUND=$(PODD_CHAOS_ROUND) PODD_CHAOS_SEED=$(PODD_CHAOS_SEED) go test -count=1 -tags grpcnotrace,integrations -timeout 180m -v -run '^TestChaos$$' ./integrations/postgres
	go test -count=100 -failfast -tags grpcnotrace,integrations -timeout 180m -v -run '^TestTriggersFailOver$$' ./integrations/postgres

.PHONY: upgrade-test
upgrade-test: chaos-need ## replace the podd of FROM (the newest tag, or the commit before) by this one and back, PODD_UPGRADES (200) times while pods work, alone and as nodes
	PODD_UPGRADES=$(PODD_UPGRADES) PODD_UPGRADE_FROM=$(FROM) go test -count=1 -tags grpcnotrace,integrations -vet=off -timeout 180m -v ./integrations/upgrade

.PHONY: states
states: ## keep what this podd leaves behind for all later ones to open, when it is released: VERSION=v0.1.0
	PODD_MAKE_STATES=$(VERSION) go test -count=1 -v -run '^TestStoredStates$$' ./cmd/podd

# The same commit gives the same files.
DATED := export TZ=UTC SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || date +%s)}

# Manual pages, completion scripts and units, written by the programs themselves.
.PHONY: share
share:
	rm -rf bin/share
	$(DATED) && \
		go run -tags grpcnotrace,gendocs ./cmd/podd gen-docs bin/share && go run -tags grpcnotrace,gendocs ./cmd/podctl gen-docs bin/share

.PHONY: install
install: build share ## install podd, podd-launch and podctl, manual pages and completions below PREFIX (~/.local)
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 bin/podd bin/podd-launch bin/podctl $(DESTDIR)$(PREFIX)/bin/
	cd bin/share && find man bash-completion zsh fish -type f -exec install -D -m 644 {} $(abspath $(DESTDIR)$(PREFIX))/share/{} \;

.PHONY: extension
extension: plugins/vscode/node_modules sdk/typescript/node_modules ## build plugins/vscode/dist/podd.vsix, the extension of VS Code
	$(DATED) && cd plugins/vscode && npm run --silent package >/dev/null

.PHONY: release
release: release-need npm-need ## make all files of a release in OUT (bin/release): VERSION=v0.1.0 KEY=FILE, an SSH key, or none; URL=ADDRESS of the files, TARGETS=linux/amd64,..., CONTAINER=false
	@cd packaging && go build -buildvcs=false -o $(abspath $(TOOLS))/release ./release
	@$(TOOLS)/release -version '$(VERSION)' -key '$(KEY)' $(if $(OUT),-out '$(OUT)') $(if $(URL),-url '$(URL)') $(if $(TARGETS),-targets '$(TARGETS)') $(if $(CONTAINER),-image=$(CONTAINER)) $(if $(DIRTY),-dirty)

.PHONY: release-test
release-test: release-need integrations-need release-test-need ## make a whole release twice and compare the bytes, install each file, run, update and remove it, and install podd under another module path (an hour)
	go test -count=1 -tags grpcnotrace,integrations,release -vet=off -timeout 90m ./integrations/release

.PHONY: module
module: ## give podd another module path for publishing: MODULE=example.org/you/podd
	@packaging/module.sh '$(MODULE)'

.PHONY: site
site: ## make the documentation as static pages in OUT (bin/site); a broken link is an error
	@cd packaging && go build -buildvcs=false -o $(abspath $(TOOLS))/site ./site
	@$(if $(OUT),,rm -rf bin/site)
	@$(TOOLS)/site -out '$(or $(OUT),bin/site)'

.PHONY: nvim-repo
nvim-repo: ## make a git repository of the plugin for Neovim in DIR, as plugin managers want it
	@packaging/nvim-repo.sh '$(DIR)'

.PHONY: clean
clean: ## remove what was built, the tools too
	rm -rf bin

$(TOOLS)/protoc-gen-pyi: tools/protoc-gen-pyi/main.go tools/go.mod tools/go.sum
	cd tools && go build -trimpath -o ../$@ ./protoc-gen-pyi

# A tool is built from the versions that tools/go.mod pins, when it is needed.
$(TOOLS)/%: tools/go.mod tools/go.sum
	cd tools && go build -trimpath -o ../$@ "$$(go list tool | grep '/$*$$')"
	touch $@
