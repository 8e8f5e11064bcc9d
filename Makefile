# The text after ## describes a target; `make` without a target lists all of them.
.DEFAULT_GOAL := help
.PHONY: help deps bench-deps bench bench-check bench-psql bench-media build release check docs site test test-sentinel test-cluster test-media test-media-long test-webhooks-long bench-sip faults hosts soak \
	fuzz sanitize-thread sanitize-address demo demo-media stack-up stack-down clean upgrade cluster-report test-containers

GATEWAYS ?= 2

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install what is missing: Debian packages, and the tests' Python packages in .venv
	@Scripts/install-dependencies

build: ## build everything for debugging, tests included
	swift build --build-tests

release: ## build the programs as they are deployed
	@Scripts/build-programs

check: deps ## format lint, import directions, shellcheck, build with warnings as errors
	@Scripts/check

docs: build ## write the client libraries' reference (DocC) to .build/docs
	@Scripts/docs

site: deps ## write the documents as web pages, with search, to .build/site
	@Scripts/docs-site

test: ## everything: deps, check, release build, unit, integration and end-to-end tests
	@Scripts/test

test-sentinel: deps release ## the end-to-end tests, conformance included, on a Redis with a replica and Sentinels (an hour)
	@Scripts/test-redis sentinel

test-cluster: deps release ## the same on a Redis Cluster of three masters with a replica each
	@Scripts/test-redis cluster

test-media: deps release ## engines and pages that hear each other through a media node (three minutes)
	@.venv/bin/pytest Tests/Media -q

test-media-long: deps release ## talk for ten minutes while others come and go, 10,000 joins, how fast pages join (half an hour; a quiet machine)
	@HELIOGRAPH_TALK_SECONDS=$${HELIOGRAPH_TALK_SECONDS:-600} .venv/bin/pytest Tests/Media -q -s

test-webhooks-long: deps release ## a receiver of webhooks fails for ten minutes, and has everything in order afterwards (a quarter of an hour)
	@HELIOGRAPH_WEBHOOK_OUTAGE_SECONDS=$${HELIOGRAPH_WEBHOOK_OUTAGE_SECONDS:-600} .venv/bin/pytest Tests/EndToEnd/Webhooks/test_long_outage.py -q -s

test-containers: deps ## build the image and run the stack of docker-compose.yml in containers, with Docker or, as root, Podman (half an hour)
	@Scripts/test-containers

faults: deps release ## cause every kind of failure in a cluster under load, and check what its users noticed (three quarters of an hour)
	@HELIOGRAPH_FAULTS=all .venv/bin/pytest Tests/Faults -q

hosts: deps release ## disturb the network between the hosts of a cluster under load, and check what its users noticed (half an hour; as root)
	@HELIOGRAPH_HOSTS=all .venv/bin/pytest Tests/Hosts -q

soak: deps release ## use random accounts and channels for ten minutes, which must leave no data or memory behind
	@HELIOGRAPH_SOAK_SECONDS=600 .venv/bin/pytest Tests/Faults/test_soak.py -q

bench-sip: deps release ## telephone calls at a steady rate: 20 per second for 30 s, in each direction
	@.venv/bin/python Tests/SIP/bench_calls.py

bench-deps: ## install the servers that the benchmarks compare with
	@Scripts/install-bench-dependencies

bench: bench-deps release ## measure Heliograph, other servers and the machine's limit; writes Benchmarks/RESULTS.md (an hour and a half)
	@Benchmarks/run all --repeat 3

bench-check: release ## fail when Heliograph costs more than the previous release, built beside it, by more than noise (an hour, more where much else runs)
	@Benchmarks/run check

bench-media: release ## what media cost: a node beside a bare forwarder, a participant beside the codec alone: CPU, delay, memory (three minutes)
	@$(MAKE) -s -C Benchmarks media && Benchmarks/.build/tools/media 3 5 && Benchmarks/run media-client

bench-psql: release ## time what operators ask of each view with a million users; fails from 100 ms on (five minutes)
	@Benchmarks/run psql

upgrade: deps release ## upgrade a cluster under load from the release before, and to a next one, and back (an hour)
	@HELIOGRAPH_UPGRADE=all HELIOGRAPH_PREVIOUS_BIN=$$(Scripts/build-release previous) HELIOGRAPH_NEXT_BIN=$$(Scripts/build-release next) \
		.venv/bin/pytest Tests/Upgrade -q

cluster-report: deps release ## kill, move and measure the servers of Redis clusters under load, and print a report (an hour; as root)
	@HELIOGRAPH_CLUSTER_REPORT=all .venv/bin/pytest Tests/ClusterReport -q

fuzz: deps ## fuzz everything that parses input from outside, without end; `Scripts/fuzz --help` for shorter runs
	@Scripts/fuzz --forever

sanitize-thread: deps ## tests with the thread sanitizer, services included (half an hour)
	@Scripts/sanitize thread

sanitize-address: deps ## tests with the address sanitizer, leaks included (half an hour)
	@Scripts/sanitize address

demo: deps release ## start a cluster in which two users chat and call; Ctrl-C ends it; with ONCE=1 it ends by itself
	@Scripts/demo $(if $(filter-out 0 no,$(ONCE)),--once)

demo-media: deps release ## two pages and an engine in a media channel, and a table of who hears whom; ONCE=1 ends it after one
	@Scripts/demo-media $(if $(filter-out 0 no,$(ONCE)),--once)

stack-up: release ## start a cluster on this machine, its files in .stack; GATEWAYS=N sets the number of gateways (2)
	@Scripts/stack up --gateways $(GATEWAYS)

stack-down: ## stop the cluster in .stack
	@Scripts/stack down

clean: stack-down ## stop the cluster; delete everything that was built, and the Python packages
	rm -rf .build .venv .stack Benchmarks/.build
