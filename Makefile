# SPDX-License-Identifier: Apache-2.0
#
# make                build/pintle (release)
# make quickstart     build, run `pintle dev`, apply examples/quickstart, show what came of it   (KEEP=1, REPO=, CHARTS=)
# make test           every test that needs nothing but this repository                          (T=module, TESTFILTER=)
# make fresh          quickstart and test in a bare Debian 12 root, from a clone
# make check          all gates: layers, headers, names, sizes, format, static analysis          (T=gate)
# make asan | tsan    build/asan/pintle, build/tsan/pintle
# make fuzz T=json    libFuzzer on one target                                                    (SECONDS=60)
# make bench          comparison with real helm in one run                                       (T=template)
# make fault          kill -9 at every write and at random moments                               (T=dev, QUICK=1, SEED=)
# make conformance    real helm, kubectl, kube-apiserver and etcd against pintle                 (T=kubectl)
# make format         clang-format over everything
# make install        into PREFIX (/usr/local), DESTDIR honoured
# make clean
#
# CC, CFLAGS, LDFLAGS are yours; WERROR=0 turns warnings back into warnings.

VARIANT ?= release
WERROR ?= 1
PREFIX ?= /usr/local
CC ?= cc
CXX ?= g++

ifeq ($(VARIANT),release)
OUT = build
VARIANT_FLAGS = -O2 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection
VARIANT_LDFLAGS = -static-libgcc
else ifeq ($(VARIANT),asan)
OUT = build/asan
VARIANT_FLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
VARIANT_LDFLAGS = -fsanitize=address,undefined
else ifeq ($(VARIANT),tsan)
OUT = build/tsan
VARIANT_FLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=thread
VARIANT_LDFLAGS = -fsanitize=thread
else ifeq ($(VARIANT),fuzz)
OUT = build/fuzz
CC = clang
CXX = clang++
VARIANT_FLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all
VARIANT_LDFLAGS = -fsanitize=address,undefined
else ifeq ($(VARIANT),plain)
# For the gates: the second compiler, and objects in which each call is the one that was written.
OUT = build/plain
CC = clang
CXX = clang++
VARIANT_FLAGS = -O0 -fno-builtin
else ifeq ($(VARIANT),cover)
# For tools/coverage.sh: which lines the fuzz corpora reach.
OUT = build/cover
CC = clang
CXX = clang++
VARIANT_FLAGS = -O1 -g -fprofile-instr-generate -fcoverage-mapping
VARIANT_LDFLAGS = -fprofile-instr-generate
else
$(error VARIANT is release, asan, tsan, fuzz, plain or cover, not $(VARIANT))
endif

GCC_WARNINGS = -Wlogical-op -Wduplicated-cond -Wformat-signedness
IS_CLANG := $(findstring clang,$(shell $(CC) --version 2>/dev/null))
WARNINGS = -Wall -Wextra -Wshadow -Wformat=2 -Wconversion -Wno-sign-conversion -Wundef -Wvla -Wpointer-arith \
           -Wwrite-strings -Wcast-qual -Wimplicit-fallthrough $(if $(IS_CLANG),-Wno-gnu-folding-constant,$(GCC_WARNINGS)) \
           $(if $(filter 1,$(WERROR)),-Werror)
C_WARNINGS = -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
VERSION := $(shell cat VERSION 2>/dev/null)

ALL_CPPFLAGS = -Ipkg -Icmd -Itests -D_GNU_SOURCE -DPINTLE_VERSION='"$(VERSION)"' $(CPPFLAGS)
ALL_CFLAGS = -std=gnu17 $(VARIANT_FLAGS) -fPIE -fno-common -fvisibility=hidden -ffunction-sections -fdata-sections \
             -pthread $(WARNINGS) $(C_WARNINGS) $(CFLAGS)
ALL_CXXFLAGS = -std=gnu++17 $(VARIANT_FLAGS) -fPIE -fvisibility=hidden -fno-exceptions -fno-rtti $(WARNINGS) $(CXXFLAGS)
ALL_LDFLAGS = -pie -pthread -Wl,--gc-sections -Wl,-z,relro,-z,now,-z,pack-relative-relocs -Wl,--as-needed \
              $(VARIANT_LDFLAGS) $(LDFLAGS)
# What has a clean archive is linked statically: a dynamic library costs milliseconds at every start.
# libcurl, libmicrohttpd and libcrypto are opened when first used; of libcrypto.a only the digests get in (base/digest.c).
LDLIBS = -l:libarchive.a -l:libdeflate.a -l:libz.a -l:libyaml.a -l:libsqlite3.a -l:libre2.a -l:libutf8proc.a \
         -l:libxxhash.a -l:libcrypto.a -l:libcrypt.a -l:libstdc++.a -lm -ldl

all: $(OUT)/pintle

build/layers.mk: tests/check/layers.txt tests/check/layers_mk.awk
	@mkdir -p $(@D)
	@awk -f tests/check/layers_mk.awk $< > $@
include build/layers.mk

# ---- objects, one library per module -------------------------------------------------------------------------------

module_sources = $(wildcard pkg/$(1)/*.c) $(wildcard pkg/$(1)/*.cc)
objects = $(patsubst %,$(OUT)/%.o,$(1))
PKG_SOURCES := $(foreach m,$(MODULES),$(call module_sources,$(m)))
CMD_SOURCES := $(wildcard cmd/pintle/*.c)
BUILT_MODULES := $(foreach m,$(MODULES),$(if $(call module_sources,$(m)),$(m)))
libs = $(foreach m,$(filter $(BUILT_MODULES),$(1)),$(OUT)/lib$(m).a)

$(OUT)/%.c.o: %.c $(OUT)/flags
	@mkdir -p $(@D)
	$(QUIET_CC)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c $< -o $@
$(OUT)/%.cc.o: %.cc $(OUT)/flags
	@mkdir -p $(@D)
	$(QUIET_CC)$(CXX) $(ALL_CPPFLAGS) $(ALL_CXXFLAGS) -MMD -MP -c $< -o $@

define module_rule
$(OUT)/lib$(1).a: $(call objects,$(call module_sources,$(1))) $(OUT)/list-$(1)
	$$(QUIET_AR)rm -f $$@ && ar rcsD $$@ $$(filter %.o,$$^)
endef
$(foreach m,$(BUILT_MODULES),$(eval $(call module_rule,$(m))))

# All memory of libyaml's goes through its api.o: here it is taken from pkg/yaml/pool.c.
$(OUT)/libyaml.a: $(OUT)/gen/libyaml_api.o
$(OUT)/gen/libyaml_api.o: $(OUT)/flags
	@mkdir -p $(@D)
	@ar p "$$($(CC) -print-file-name=libyaml.a)" api.o > $@.new
	@objcopy $(foreach f,malloc free realloc strdup,--redefine-sym $(f)=yml_pool_$(f)) $@.new $@ && rm $@.new

# Stamps: a changed flag rebuilds everything, a changed list of files relinks its library.
$(OUT)/flags: FORCE
	@mkdir -p $(@D); echo '$(subst ','\'',$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS))' > $@.new; \
	    if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(OUT)/list-%: FORCE
	@mkdir -p $(@D); echo '$(call module_sources,$*)' > $@.new; if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# What the program carries with it, as C tables.
GEN_OBJECTS := $(OUT)/gen/crds.c.o $(OUT)/gen/manifests.c.o
build/gen/crds.c: tools/embed.awk $(sort $(wildcard crds/*.yaml))
	@mkdir -p $(@D)
	@LC_ALL=C awk -f $< -v name=cmd_crds_files $(filter %.yaml,$^) > $@
build/gen/manifests.c: tools/embed.awk $(sort $(wildcard cmd/pintle/manifests/*.yaml))
	@mkdir -p $(@D)
	@LC_ALL=C awk -f $< -v name=cmd_manifests_files $(filter %.yaml,$^) > $@
$(OUT)/gen/%.c.o: build/gen/%.c $(OUT)/flags
	@mkdir -p $(@D)
	$(QUIET_CC)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# ld writes a file piece by piece, and the kernel then keeps it in small pieces. Copied, as an installed program is, it starts sooner.
$(OUT)/pintle: $(call objects,$(CMD_SOURCES)) $(GEN_OBJECTS) $(call libs,$(MODULES))
	$(QUIET_LD)$(CC) $(ALL_LDFLAGS) $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LDLIBS) -o $@.linked
	@rm -f $@ && cp $@.linked $@ && rm $@.linked

# A program without it works as well, with more memory and a later start of what uses the network.
ifeq ($(VARIANT),release)
all: $(patsubst %,$(OUT)/pintle-curl.so,$(filter http,$(BUILT_MODULES)))
endif
$(OUT)/pintle-curl.so: tools/slim_curl.sh pkg/http/curl.c
	@mkdir -p $(@D)
	@tools/slim_curl.sh '$(CC)' $@

ifndef V
QUIET_CC = @echo '  CC   $<';
QUIET_AR = @
QUIET_LD = @echo '  LD   $@';
endif

asan tsan:
	@$(MAKE) --no-print-directory VARIANT=$@ all

# ---- tests ---------------------------------------------------------------------------------------------------------

TEST_SOURCES := $(wildcard tests/unit/*/test_*.c)
TESTS := $(patsubst %.c,$(OUT)/%,$(TEST_SOURCES))
TESTLIB_SOURCES := $(wildcard tests/lib/*.c)
FUZZ_SOURCES := $(wildcard tests/fuzz/fuzz_*.c)
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,$(OUT)/fuzz_%,$(FUZZ_SOURCES))

# A unit test is linked with the closure of its module's line in layers.txt and nothing else, so that a hidden
# dependency is an undefined symbol. tests/unit/cmd tests what is in cmd/pintle apart from main.c.
define test_rule
$(OUT)/tests/unit/$(1)/%: $(OUT)/tests/unit/$(1)/%.c.o $(call objects,$(TESTLIB_SOURCES)) $(call libs,$(LIBS_$(1)) $(2))
	$$(QUIET_LD)$(CC) $(ALL_LDFLAGS) $$(filter %.o,$$^) -Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group -lcmocka $(LDLIBS) -o $$@
endef
$(foreach m,$(MODULES),$(eval $(call test_rule,$(m))))
CMD_TEST_OBJECTS := $(call objects,$(filter-out cmd/pintle/main.c,$(CMD_SOURCES))) $(GEN_OBJECTS)
$(OUT)/tests/unit/cmd/%: $(OUT)/tests/unit/cmd/%.c.o $(call objects,$(TESTLIB_SOURCES)) $(CMD_TEST_OBJECTS) $(call libs,$(MODULES))
	$(QUIET_LD)$(CC) $(ALL_LDFLAGS) $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lcmocka $(LDLIBS) -o $@
# A fuzz target replays its corpus under the sanitizers in `make test`; `make fuzz` gives it to libFuzzer.
$(OUT)/fuzz_%: $(OUT)/tests/fuzz/fuzz_%.c.o $(if $(filter fuzz,$(VARIANT)),,$(OUT)/tests/fuzz/replay.c.o) $(call libs,$(MODULES))
	$(QUIET_LD)$(CC) $(ALL_LDFLAGS) $(if $(filter fuzz,$(VARIANT)),-fsanitize=fuzzer) $(filter %.o,$^) \
	    -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LDLIBS) -o $@

# Counterparts of test-only peers: JSON lines in, JSON lines out.
$(OUT)/tests/conformance/%: $(OUT)/tests/conformance/%.c.o $(call libs,$(MODULES))
	$(QUIET_LD)$(CC) $(ALL_LDFLAGS) $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LDLIBS) -o $@

.SECONDARY:

print-cflags:
	@echo $(ALL_CPPFLAGS) $(ALL_CFLAGS)

unit-tests: $(filter $(if $(T),$(OUT)/tests/unit/$(T)/%,%),$(TESTS))
fuzz-targets: $(FUZZERS)
# Compiled and not linked: what gates read.
test-objects: $(call objects,$(TEST_SOURCES) $(TESTLIB_SOURCES) $(FUZZ_SOURCES))

test: packages-test
	@tests/run.sh

fuzz:
	@test -n "$(T)" || { echo "make fuzz T=<target>: $(patsubst tests/fuzz/fuzz_%.c,%,$(FUZZ_SOURCES))"; exit 2; }
	@$(MAKE) --no-print-directory VARIANT=fuzz build/fuzz/fuzz_$(T)
	@mkdir -p build/fuzz/corpus/$(T) tests/fuzz/corpus/$(T)
	build/fuzz/fuzz_$(T) -max_total_time=$(or $(SECONDS),60) -timeout=10 -rss_limit_mb=2048 \
	    -artifact_prefix=build/fuzz/crash-$(T)- build/fuzz/corpus/$(T) tests/fuzz/corpus/$(T)

packages-build packages-test:
	@tools/packages.sh $(patsubst packages-%,%,$@)

quickstart: packages-build
	@$(MAKE) --no-print-directory -j2 all
	@tools/quickstart.sh

fresh conformance bench fault:
	@tools/$@.sh

check:
	@tests/check/run.sh $(T)

format:
	git ls-files '*.c' '*.h' '*.cc' | xargs clang-format -i

install: all
	install -D -m 755 $(OUT)/pintle $(DESTDIR)$(PREFIX)/bin/pintle
	[ ! -f $(OUT)/pintle-curl.so ] || install -D -m 644 $(OUT)/pintle-curl.so $(DESTDIR)$(PREFIX)/lib/pintle/pintle-curl.so

clean:
	rm -rf build

FORCE:
.PHONY: all asan tsan test unit-tests test-objects fuzz fuzz-targets packages-build packages-test quickstart fresh conformance bench fault \
        check format install clean print-cflags FORCE

-include $(patsubst %.o,%.d,$(call objects,$(PKG_SOURCES) $(CMD_SOURCES) $(TEST_SOURCES) $(TESTLIB_SOURCES) $(FUZZ_SOURCES)))
