# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make            the command and the BPF programs, in build/
# make check      style, layering, static analysis
# make test       unit, program and command-line tests (root for most): see tests/README.md
# make bench      figures; make fuzz: long fuzzing; make vmtest: Debian's 6.1 kernel in qemu
# make SAN=1 ...  the same with AddressSanitizer and UndefinedBehaviorSanitizer, in build-san/

CC ?= gcc
CLANG ?= clang
BPFTOOL ?= $(shell command -v bpftool 2>/dev/null || echo /usr/sbin/bpftool)
PKG_CONFIG ?= pkg-config
B := $(if $(SAN),build-san,build)
VERSION := 0.1.0
PREFIX ?= /usr/local

PKGS := libbpf libxdp libmicrohttpd libpcap libcap jansson ncursesw
ARCH_INC := /usr/include/$(shell $(CC) -print-multiarch)
WARN := -Wall -Wextra -Wshadow -Wmissing-prototypes -Werror
CFLAGS ?= -O2 -g
ALL_CFLAGS := -std=gnu11 $(CFLAGS) $(WARN) $(if $(SAN),-fsanitize=address -fsanitize=undefined \
	-fno-omit-frame-pointer -fno-sanitize-recover=undefined) -D_GNU_SOURCE -DXSF_VERSION='"$(VERSION)"' -Iinclude -Iuser -I$(B) \
	$(shell $(PKG_CONFIG) --cflags $(PKGS)) -MMD -MP
LDLIBS := $(shell $(PKG_CONFIG) --libs $(PKGS)) -lelf -lz -lm
TEST_LIBS := -lcmocka
BPF_CFLAGS := -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Wshadow -Werror -I$(ARCH_INC)

# model and serve are pure: they build without libbpf and are what the unit tests link.
PURE_SRC := $(wildcard user/model/*.c user/serve/*.c)
USER_SRC := $(wildcard user/*.c user/cmd/*.c user/kernel/*.c) $(PURE_SRC)
PURE_OBJ := $(PURE_SRC:%.c=$(B)/%.o)
USER_OBJ := $(USER_SRC:%.c=$(B)/%.o)
LIB_OBJ := $(filter-out $(B)/user/main.o,$(USER_OBJ))

BPF_OBJ := $(patsubst %.c,build/%.o,$(notdir $(wildcard bpf/*.bpf.c)))
SKEL := $(BPF_OBJ:build/%.bpf.o=$(B)/%.skel.h)
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/*_test.c))
PROGRUN := $(patsubst tests/progrun/%.c,$(B)/tests/progrun/%,$(wildcard tests/progrun/*_test.c))
PROGRUN_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out %_test.c,$(wildcard tests/progrun/*.c))) $(B)/tests/bench/mix.o
BENCH := $(patsubst %.c,$(B)/%,$(filter-out %/mix.c %.bpf.c,$(wildcard tests/bench/*.c)))
TOOLS := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/tools/*.c)) $(BENCH)
CONTRIB := $(wildcard contrib/*.md contrib/*/*)

all: $(B)/xdp-sflow $(BPF_OBJ)

$(B)/xdp-sflow: $(USER_OBJ)
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDLIBS)

build/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h include/xsf/*.h vmlinux/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(B)/%.skel.h: build/%.bpf.o
	@mkdir -p $(@D)
	$(BPFTOOL) gen skeleton $< name $* > $@.tmp
	mv $@.tmp $@

# What may include a skeleton; later builds know it from the .d files.
$(filter $(B)/user/kernel/%,$(USER_OBJ)) $(UNIT:%=%.o) $(PROGRUN:%=%.o) $(TOOLS:%=%.o): | $(SKEL)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c $< -o $@

$(B)/tests/unit/%: $(B)/tests/unit/%.o $(PURE_OBJ)
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDLIBS) $(TEST_LIBS)

# Its commands are read by the parser of the command line.
$(B)/tests/unit/csum_test: $(LIB_OBJ)
# It changes the packets of the program's tests.
$(B)/tests/unit/packet_fields_test: $(addprefix $(B)/tests/,progrun/built.o progrun/mutate.o bench/mix.o)

$(PROGRUN): $(PROGRUN_OBJ)

$(BENCH): $(B)/tests/bench/mix.o

build/tests/%.bpf.o: tests/%.bpf.c $(wildcard tests/bench/*.h vmlinux/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(B)/tests/%: $(B)/tests/%.o $(LIB_OBJ)
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDLIBS) $(TEST_LIBS)

tests-bin: $(UNIT) $(PROGRUN) $(TOOLS) $(patsubst %.c,build/%.o,$(wildcard tests/netns/*.bpf.c))

test: all tests-bin
	tests/run.sh

check:
	scripts/check.sh

bench: all tests-bin $(patsubst %.c,build/%.o,$(wildcard tests/bench/*.bpf.c))
	tests/bench/bench.sh

fuzz:
	tests/fuzz/fuzz.sh

vmtest: all tests-bin
	scripts/vmtest.sh

install: all
	install -D -m 755 build/xdp-sflow $(DESTDIR)$(PREFIX)/sbin/xdp-sflow
	install -d $(DESTDIR)$(PREFIX)/lib/xdp-sflow
	install -m 644 $(filter-out %/ledger.bpf.o,$(BPF_OBJ)) $(DESTDIR)$(PREFIX)/lib/xdp-sflow
	install -D -m 644 man/xdp-sflow.8 $(DESTDIR)$(PREFIX)/share/man/man8/xdp-sflow.8
	for file in $(CONTRIB:contrib/%=%); do \
		install -D -m 644 contrib/$$file $(DESTDIR)$(PREFIX)/share/xdp-sflow/$$file || exit; \
	done

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/sbin/xdp-sflow $(DESTDIR)$(PREFIX)/share/man/man8/xdp-sflow.8
	rm -rf $(DESTDIR)$(PREFIX)/lib/xdp-sflow $(DESTDIR)$(PREFIX)/share/xdp-sflow

clean:
	rm -rf build build-san

.PHONY: all tests-bin test check bench fuzz vmtest install uninstall clean
.DELETE_ON_ERROR:
.SECONDARY:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
