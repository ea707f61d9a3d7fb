# Inference Ladder. `make help` lists what there is to type.

.DEFAULT_GOAL := help
CC      ?= gcc
BUILD   ?= build
PYTHON  ?= python3
MODEL   ?= models/SmolLM2-135M-Instruct.Q4_1.gguf
PREFIX  ?=
export PKG_CONFIG_PATH := $(if $(PREFIX),$(PREFIX)/lib/pkgconfig:)$(PKG_CONFIG_PATH)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wvla -Wwrite-strings -Wpointer-arith \
        -Wstrict-prototypes -Wmissing-prototypes -Wmissing-declarations -Wold-style-definition \
        -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough
WERROR  ?= -Werror
STD     := -std=c11 -D_POSIX_C_SOURCE=200809L -I.
FLOAT   := -fno-math-errno -ffp-contract=off
LIBS    := libcurl libevent libevent_pthreads jansson libutf8proc libxxhash libedit
PKG_C   := $(shell pkg-config --cflags $(LIBS) 2>/dev/null)
PKG_L   := $(shell pkg-config --libs $(LIBS) 2>/dev/null)
CHECK_C := $(shell pkg-config --cflags check 2>/dev/null)
CHECK_L := $(shell pkg-config --libs check 2>/dev/null)
COMMON_FLAGS = $(STD) $(WARN) $(WERROR) $(FLOAT) $(PKG_C) -MMD -MP
FAST    := -O3 -g
SAN     ?= -fsanitize=address,undefined -fno-sanitize-recover=all
SAFE     = -O1 -g -fno-omit-frame-pointer -DPOISON_FREED_MEMORY=1 $(SAN)

# One program per main_NAME.c; everything else goes into one archive per build.
MAINS    := $(wildcard level*/main_*.c)
PROGRAMS := $(foreach m,$(MAINS),$(BUILD)/bin/$(patsubst main_%.c,%,$(notdir $(m))))
SOURCES  := $(filter-out $(MAINS),$(wildcard common/*.c level*/*.c solutions/*/*.c))
TESTS    := $(wildcard tests/common/test_*.c tests/level*/test_*.c)
SUITES   := $(foreach t,$(TESTS),$(BUILD)/test/suites/$(patsubst test_%.c,%,$(notdir $(t))))
SUPPORT  := $(wildcard tests/support/*.c)
TINY     := $(BUILD)/test/tiny.gguf

FAST_OBJ := $(SOURCES:%.c=$(BUILD)/bin/obj/%.o)
SAFE_OBJ := $(SOURCES:%.c=$(BUILD)/test/obj/%.o)
SUPP_OBJ := $(SUPPORT:%.c=$(BUILD)/test/obj/%.o)
LINK     := $(PKG_L) -lm -pthread

vpath test_%.c tests/common tests/level1 tests/level2 tests/level3 tests/level4
vpath main_%.c level1-user level2-operator level3-optimizer level4-engine

# ---- build -------------------------------------------------------------------------------------
programs: $(PROGRAMS)
suites: $(SUITES) $(TINY)

$(BUILD)/bin/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(COMMON_FLAGS) $(FAST) -c $< -o $@
$(BUILD)/test/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(COMMON_FLAGS) $(if $(filter tests/%,$<),$(CHECK_C) -Wno-double-promotion) $(SAFE) -c $< -o $@
$(BUILD)/bin/libladder.a: $(FAST_OBJ)
	@rm -f $@ && ar rcs $@ $^
$(BUILD)/test/libladder.a: $(SAFE_OBJ)
	@rm -f $@ && ar rcs $@ $^
$(BUILD)/bin/obj/main_%.o: main_%.c
	@mkdir -p $(@D)
	$(CC) $(COMMON_FLAGS) $(FAST) -c $< -o $@
$(BUILD)/bin/%: $(BUILD)/bin/obj/main_%.o $(BUILD)/bin/libladder.a
	$(CC) $(FAST) $^ $(LINK) -o $@
$(BUILD)/test/obj/test_%.o: test_%.c
	@mkdir -p $(@D)
	$(CC) $(COMMON_FLAGS) $(CHECK_C) -Wno-double-promotion $(SAFE) -c $< -o $@
$(BUILD)/test/suites/%: $(BUILD)/test/obj/test_%.o $(SUPP_OBJ) $(BUILD)/test/libladder.a
	@mkdir -p $(@D)
	$(CC) $(SAFE) $^ $(CHECK_L) $(LINK) -o $@
$(TINY): tools/tiny_model.py
	@mkdir -p $(@D)
	$(PYTHON) tools/tiny_model.py --out $@

# One suite: make suite S=rope
suite: $(BUILD)/test/suites/$(S) $(TINY)
	TINY_MODEL=$(TINY) $(BUILD)/test/suites/$(S)

.SECONDARY:
.PHONY: help programs suites suite
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
