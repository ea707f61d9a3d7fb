# Inference Ladder. `make help` lists what there is to type.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules # make would look for yacc, RCS and SCCS files of 300 files: 4 s
ifneq ($(filter default undefined,$(origin CC)),)
CC := gcc
endif
BUILD     ?= build
PYTHON    ?= python3
MODEL_DIR ?= models
NAME      ?= smollm2-135m
MODEL     ?= $(MODEL_DIR)/SmolLM2-135M-Instruct.Q4_1.gguf
PREFIX    ?=
LEVEL_IS_SET := $(if $(ALL),,$(filter 1 2 3 4,$(shell cat .course/level 2>/dev/null)))
ASK       ?=
JOBS      ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# As typed: no dollar sign in them is a variable, and no letter the shell's.
override ASK   := $(value ASK)
override EX    := $(value EX)
override ONLY  := $(value ONLY)
override SEED  := $(value SEED)
override ROUTE := $(value ROUTE)
override LEVEL := $(value LEVEL)
override TICKET := $(value TICKET)
override ANSWER := $(value ANSWER)
COMMA     := ,
RPATH     := $(if $(PREFIX),-Wl$(COMMA)-rpath$(COMMA)$(PREFIX)/lib)
export PYTHONUTF8 := 1# our texts are UTF-8, whatever the terminal's letters are
export ASK EX ONLY SEED ROUTE LEVEL TICKET ANSWER MODEL_DIR
export PKG_CONFIG_PATH := $(if $(PREFIX),$(PREFIX)/lib/pkgconfig:)$(PKG_CONFIG_PATH)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wvla -Wwrite-strings -Wpointer-arith \
        -Wstrict-prototypes -Wmissing-prototypes -Wmissing-declarations -Wold-style-definition \
        -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough
WERROR  ?=  # -Werror upstream (.ci/run, make check): a newer compiler must not stop a stranger
STD     := -std=c11 -D_POSIX_C_SOURCE=200809L -I.
FLOAT   := -fno-math-errno -ffp-contract=off
LIBS    := libcurl libevent libevent_pthreads jansson libutf8proc libxxhash libedit
PKG_C   := $(shell for l in $(LIBS); do pkg-config --cflags $$l 2>/dev/null; done)
PKG_L   := $(shell for l in $(LIBS); do pkg-config --libs $$l 2>/dev/null; done)
CHECK_C := $(shell pkg-config --cflags check 2>/dev/null)
CHECK_L := $(shell pkg-config --libs check 2>/dev/null)
COMMON_FLAGS = $(STD) $(WARN) $(WERROR) $(FLOAT) $(PKG_C) -MMD -MP
# A learner's file: all warnings, never an error; what is not written yet leaves things unused.
LEARNER_FLAGS = $(STD) $(WARN) -Wno-double-promotion -Wno-unused-parameter -Wno-unused-function $(FLOAT) $(PKG_C) -MD -MP
FLAGS_OF = $(if $(filter $<,$(STARTERS)),$(LEARNER_FLAGS),$(COMMON_FLAGS))
FAST    := -O3 -g
SAN     ?= -fsanitize=address,undefined -fno-sanitize-recover=all
SAFE     = -O1 -g -fno-omit-frame-pointer -DPOISON_FREED_MEMORY=1 $(SAN)

# One program per main_NAME.c; everything else goes into one archive per build.
MAINS    := $(wildcard level*/main_*.c)
PROGRAMS := $(foreach m,$(MAINS),$(BUILD)/bin/$(patsubst main_%.c,%,$(notdir $(m)))) \
            $(patsubst tests/reference/%.c,$(BUILD)/bin/%,$(wildcard tests/reference/*.c))
# A learner's file is what mirrors a solution. Programs get the reference, unless modules.mk, written by
# tools/course.py, lists the learner's as passed (LEARNED); MODULES names all, for --version.
-include $(BUILD)/modules.mk $(BUILD)/suites.mk
REFERENCE := $(wildcard solutions/*/*.c solutions/*/*/*.c)
STARTERS := $(wildcard $(REFERENCE:solutions/%=%))
SOURCES  := $(filter-out $(MAINS) $(STARTERS) $(COPIES),$(wildcard $(wildcard common/*.c level*/*.c level*/*/*.c))) $(REFERENCE)
TESTS    := $(wildcard tests/common/test_*.c tests/level*/test_*.c)
SUITES   := $(foreach t,$(TESTS),$(BUILD)/test/suites/$(patsubst test_%.c,%,$(notdir $(t))))
SUPPORT  := $(wildcard tests/support/*.c)
# systemd_unit boots a systemd, which is for upstream: `make check` and `make faults` do.
CHECKS   := $(filter-out tests/faults/systemd_unit.py,$(wildcard tests/reference/*.py tests/faults/*.py))
# What says the same of every model: these run on the tiny one only.
ANY_MODEL := added_tokens architectures bill containers faults fit forward_types hostile_files openai_client openai_errors \
             openai_limits rollout sampling_defaults templates tokenizer_families tokenizer_spm tokenizer_vectors
REAL_CHECKS := $(filter-out $(ANY_MODEL:%=tests/reference/%.py) tests/faults/%,$(CHECKS))
TINY     := $(BUILD)/test/tiny.gguf

FAST_OBJ := $(patsubst %.c,$(BUILD)/bin/obj/%.o,$(filter-out $(LEARNED:%=solutions/%),$(SOURCES)) $(LEARNED))
SAFE_OBJ := $(SOURCES:%.c=$(BUILD)/test/obj/%.o)
MIXED_OBJ := $(filter-out $(LEARNED:%.c=$(BUILD)/test/obj/solutions/%.o),$(SAFE_OBJ)) \
             $(LEARNED:%.c=$(BUILD)/test/mine/%.o)
SUPP_OBJ := $(SUPPORT:%.c=$(BUILD)/test/obj/%.o)
LINK     := $(PKG_L) $(RPATH) -lm -pthread
# tests/support/memory.c makes allocations fail. The linker of macOS knows no --wrap.
ifeq ($(shell uname),Linux)
WRAP     := -Wl,--undefined=__wrap_malloc,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup
endif

vpath test_%.c tests/common tests/level1 tests/level2 tests/level3 tests/level4
vpath main_%.c level1-user level2-operator level3-optimizer level4-engine

# A make of its own, so that it sees what setup has just installed.
BUILD_GOALS = MAKE="$(MAKE)" tools/build.sh "$(BUILD)" $(JOBS)
COURSE = MAKE="$(MAKE)" BUILD="$(BUILD)" CC="$(CC)" JOBS="$(JOBS)" $(PYTHON) tools/course.py

# ---- what one types ----------------------------------------------------------------------------
help:                   ## this list
	@echo "Inference Ladder: build your own inference engine."
	@sed -n -e 's/^## \(.*\)/\n\1/p' -e 's/^\([a-z0-9%]*\):[^#]*## /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 17
	@printf '\n  EX=rope  MODEL=file  CC=clang  PREFIX=dir of libraries  BUILD=dir  MINE=rope  REF=all\n'
## to learn
next:                   ## what to do now (ROUTE=core: the short way through)
	@$(COURSE) next --name="$$EX" --route="$$ROUTE"
# What people type in place of EX=rope would run everything.
ifneq ($(filter test hint watch debug compare reset,$(MAKECMDGOALS)),)
ifneq ($(filter $(EXERCISES),$(MAKECMDGOALS))$(ex)$(Ex),)
$(error an exercise is named by EX=, as in make $(firstword $(MAKECMDGOALS)) EX=$(firstword $(filter $(EXERCISES),$(MAKECMDGOALS)) $(ex) $(Ex)))
endif
endif
test: $(if $(EX),setup-suite,setup-test) ## the engine's tests, then yours; EX=rope: one exercise
	@+$(if $(EX)$(LEVEL_IS_SET),:,$(COURSE) link && $(BUILD_GOALS) programs suites)
	@+$(COURSE) test --name="$$EX" --only="$$ONLY" --seed="$$SEED" --suites $(SUITES) --checks $(CHECKS) --model $(TINY) $(if $(ALL),--all)
tests: test
status:                 ## the board, as it was last judged
	@$(COURSE) status
hint:                   ## one more hint: make hint EX=rope
	@$(COURSE) hint --name="$$EX"
watch:                  ## test again whenever you save: make watch EX=rope
	@+$(COURSE) watch --name="$$EX"
debug: setup-suite      ## gdb at your function in the first failing test
	@+$(COURSE) debug --name="$$EX"
compare:                ## yours beside the reference, once it has passed
	@$(COURSE) compare --name="$$EX"
reset:                  ## the starter again; yours is kept under .course/saved
	@$(COURSE) reset --name="$$EX"
level%: setup           ## level1 .. level4: build, make current, show its exercises
	@+$(COURSE) link && $(BUILD_GOALS) programs
	@$(COURSE) level $*
grade: setup-suite      ## points, on inputs that nobody has seen (FROM=../bob SEEDS="7 11")
	@+$(COURSE) grade --from="$$FROM" --seeds="$$SEEDS"
race: setup-suite       ## one exercise under the thread sanitizer
	@+$(MAKE) --no-print-directory test BUILD=$(BUILD)/race SAN=-fsanitize=thread
triage:                 ## which level is it? evidence, and your verdict: make triage LEVEL=1
	@$(PYTHON) tools/triage.py --level="$$LEVEL" --ticket="$$TICKET" --answer="$$ANSWER"
editor:                 ## compile_commands.json for your files
	@+$(COURSE) editor
doctor:                 ## what is there, what is missing, what will be skipped
	@tools/doctor.sh "$(MODEL)"
## to run
run: model              ## one command: set up, build, ask a real model one question
	@+$(COURSE) link && $(BUILD_GOALS) programs
	@tools/first_light.sh $(BUILD)/bin "$(MODEL)"
chat: model             ## the same, and stay in conversation
	@+$(COURSE) link && $(BUILD_GOALS) programs
	@tools/first_light.sh $(BUILD)/bin "$(MODEL)" --chat
serve: model            ## the OpenAI-compatible server on port 8080, until Ctrl-C
	@+$(COURSE) link && $(BUILD_GOALS) programs
	@exec $(BUILD)/bin/serve --model "$(MODEL)"
bench: model            ## tokens per second on this machine, with its bandwidth
	@+$(COURSE) link && $(BUILD_GOALS) programs
	@$(BUILD)/bin/bench --model "$(MODEL)"
lesson0: model          ## predict them from bytes and operations first, then compare
	@+$(COURSE) link && $(BUILD_GOALS) programs
	@$(BUILD)/bin/bench --predict --model "$(MODEL)"
lesson1: model          ## one prompt in two orders on a live server: wait and bill (LESSON_SECONDS=120)
	@+$(COURSE) link && $(BUILD_GOALS) programs
	@exec $(PYTHON) tools/lesson1.py --bin $(BUILD)/bin --model "$(MODEL)" --flags="$(FAST) $(FLOAT)" $(if $(SAVE),--save "$(SAVE)")
lesson2: model setup-door ## two replicas behind HAProxy, a crash, a roll-out: what is lost (LESSON_SECONDS=120)
	@+$(COURSE) link && $(BUILD_GOALS) programs
	@exec $(PYTHON) tools/lesson2.py --bin $(BUILD)/bin --model "$(MODEL)" --flags="$(FAST) $(FLOAT)" $(if $(NEXT),--next "$(NEXT)")
model: setup            ## get the default model (98 MB), checksums and all; NAME=gemma3-270m: another
	@test "$(origin NAME)" = file -a -f "$(MODEL)" || $(if $(filter file,$(origin MODEL)),tools/get_model.py --name "$(NAME)", \
	    { echo "model: no file $(MODEL); without MODEL= the default model is taken" >&2; exit 1; })
setup:                  ## install what building and running needs
	@PKG_CONFIG_PATH="$(PKG_CONFIG_PATH)" tools/setup.sh run
all: setup              ## build every program into build/bin
	@+$(COURSE) link && $(BUILD_GOALS) programs
clean:                  ## remove everything built (models and .venv stay)
	rm -rf $(BUILD)
## to contribute
suite:                  ## one suite on the reference: make suite S=rope
	@test -n "$(filter $(BUILD)/test/suites/$(S),$(SUITES))" || { echo "suite: name one, as in make suite S=rope." \
	    "There are: $(sort $(notdir $(SUITES)))" | fold -s -w 80 >&2; exit 2; }
	@+$(BUILD_GOALS) $(BUILD)/test/suites/$(S) $(TINY)
	@TINY_MODEL=$(TINY) $(BUILD)/test/suites/$(S)
refresh: setup-test     ## write anew what is made from sources: starters, counts, records, tables, transcripts
	@MAKE="$(MAKE)" BUILD="$(BUILD)" CC="$(CC)" JOBS="$(JOBS)" $(PYTHON) tools/refresh.py
verify: setup-test model ## the reference checks once more, on the real model
	@+$(COURSE) link && $(BUILD_GOALS) programs suites
	@tools/same_text.sh "$(MODEL)" $(BUILD)/bin
	@tools/run_tests.py --jobs 1 --checks $(REAL_CHECKS) -- --model "$(MODEL)" --bin $(BUILD)/bin
check: setup-check      ## what CI runs beyond `make test`: format, clang, threads, docs
	@CC=$(CC) JOBS=$(JOBS) MODEL="$(MODEL)" tools/check.py
times: setup-suite      ## how long a learner waits for a verdict
	@CC=$(CC) tools/times.py
faults: setup-test model ## serve under faults, then ten minutes of load: is anything left behind? (SOAK=60)
	@+$(COURSE) link && $(BUILD_GOALS) programs $(TINY)
	@for f in serve_faults watchdog systemd_unit; do $(PYTHON) tests/faults/$$f.py --model $(TINY) --bin $(BUILD)/bin || \
	    [ $$? = 77 ] || exit 1; done
	@$(PYTHON) tests/faults/soak.py --model "$(MODEL)" --bin $(BUILD)/bin --seconds $(or $(SOAK),600)
overhead: setup-test    ## what ask adds to curl's time to first token, and how fast bill answers
	@+$(COURSE) link && $(BUILD_GOALS) programs $(TINY)
	@exec $(PYTHON) tools/overhead.py --bin $(BUILD)/bin --model $(TINY) --flags="$(FAST) $(FLOAT)"
tokenizers: setup-test model ## MB/s of our tokenizers beside the packages that define them
	@+$(COURSE) link && $(BUILD_GOALS) programs
	@exec .venv/bin/python tools/tokenizer_speed.py --bin $(BUILD)/bin --model "$(MODEL)" --flags="$(FAST) $(FLOAT)"
fuzz: setup-check       ## every parser for SECONDS=60 under libFuzzer
	@tools/fuzz.sh $(SECONDS)
##
setup-suite setup-test setup-check setup-door: setup-%:
	@PKG_CONFIG_PATH="$(PKG_CONFIG_PATH)" tools/setup.sh $*
course-commands:        # for tools/course.py: how a learner's file is compiled and linked
	@echo 'compile: $(CC) $(LEARNER_FLAGS) $(SAFE)'; echo 'link: $(CC) $(SAFE) $(RPATH)'; echo 'wrap: $(WRAP)'; echo 'check: $(CHECK_L)'

# ---- build -------------------------------------------------------------------------------------
programs: $(PROGRAMS)
suites: $(SUITES) $(TINY)

# Another compiler builds everything anew; one object made by gcc and one by clang is a riddle.
ifneq ($(filter programs suites $(BUILD)/%,$(MAKECMDGOALS)),)
$(shell mkdir -p $(BUILD); echo '$(CC)' | cmp -s - $(BUILD)/compiler || echo '$(CC)' >$(BUILD)/compiler)
endif

$(BUILD)/bin/obj/%.o: %.c $(BUILD)/compiler
	@mkdir -p $(@D)
	$(CC) $(FLAGS_OF) $(FAST) -c $< -o $@
$(BUILD)/test/obj/%.o: %.c $(BUILD)/compiler
	@mkdir -p $(@D)
	$(CC) $(COMMON_FLAGS) $(if $(filter tests/%,$<),$(CHECK_C) -Wno-double-promotion) $(SAFE) -c $< -o $@
$(BUILD)/bin/libladder.a: $(FAST_OBJ) $(wildcard $(BUILD)/modules.mk)
	@rm -f $@ && ar rcs $@ $(filter %.o,$^)
$(BUILD)/test/libsupport.a: $(SUPP_OBJ)
	@rm -f $@ && ar rcs $@ $^
$(BUILD)/test/libladder.a: $(SAFE_OBJ)
	@rm -f $@ && ar rcs $@ $^
$(BUILD)/bin/obj/main_%.o: main_%.c $(BUILD)/compiler
	@mkdir -p $(@D)
	$(CC) $(COMMON_FLAGS) $(FAST) -c $< -o $@
$(BUILD)/bin/%: $(BUILD)/bin/obj/main_%.o $(BUILD)/bin/libladder.a
	$(CC) $(FAST) $^ $(LINK) -o $@
$(BUILD)/bin/%: $(BUILD)/bin/obj/tests/reference/%.o $(BUILD)/bin/libladder.a
	$(CC) $(FAST) $^ $(LINK) -o $@
$(LEARNED:%.c=$(BUILD)/bin/obj/%.o): $(BUILD)/bin/obj/%.o: $(BUILD)/sums/%.sum
$(BUILD)/bin/obj/common/modules.o: $(wildcard $(BUILD)/modules.mk)
$(BUILD)/bin/obj/common/modules.o: WARN += -DMODULES='"$(MODULES)"'
$(BUILD)/bin/obj/main_bench.o: WARN += -DBUILD_FLAGS='"$(FAST) $(FLOAT)"'
$(BUILD)/test/obj/test_%.o: test_%.c $(BUILD)/compiler
	@mkdir -p $(@D)
	$(CC) $(COMMON_FLAGS) $(CHECK_C) -Wno-double-promotion $(SAFE) -c $< -o $@
$(BUILD)/test/suites/%: $(BUILD)/test/obj/test_%.o $(BUILD)/test/libsupport.a $(BUILD)/test/libladder.a
	@mkdir -p $(@D)
	$(CC) $(SAFE) $(WRAP) $^ $(CHECK_L) $(LINK) -o $@
# The learner's files, sanitized, and the suite of one exercise: the learner's file and the reference of
# everything else (suites.mk). What compiler and linker say goes to a log that tools/course.py reads.
$(BUILD)/test/mine/%.o: %.c $(BUILD)/sums/%.sum $(BUILD)/compiler
	@mkdir -p $(@D) && rm -f $@
	@$(CC) $(LEARNER_FLAGS) $(SAFE) -c $< -o $@ 2>$(@:.o=.log)
$(EXERCISES:%=$(BUILD)/test/exercises/%): $(BUILD)/suites.mk
	@mkdir -p $(@D) && rm -f $@
	@$(SUITE_LINK) $(if $(filter %/memory.o,$^),$(WRAP)) $(filter %.o,$^) $(CHECK_L) $(SUITE_PKG) -o $@ 2>$@.log
SUITE_LINK = $(CC) $(SAFE)
SUITE_PKG = $(if $(SUITE_LIBS),$(shell pkg-config --libs $(SUITE_LIBS))) $(RPATH) -lm -pthread
# How the learner's passed modules work together: a suite of the level on all of them.
$(BUILD)/test/libmixed.a: $(MIXED_OBJ) $(BUILD)/modules.mk
	@rm -f $@ && ar rcs $@ $(filter %.o,$^)
$(BUILD)/test/integration/%: $(BUILD)/test/obj/test_%.o $(BUILD)/test/libsupport.a $(BUILD)/test/libmixed.a
	@mkdir -p $(@D)
	@$(CC) $(SAFE) $(WRAP) $^ $(CHECK_L) $(LINK) -o $@
$(TINY): tools/tiny_model.py tools/tiny_containers.py tools/tiny_arch.py tools/number_types.py
	@mkdir -p $(@D)
	$(PYTHON) tools/tiny_containers.py --out $(@D)/containers
	$(PYTHON) tools/tiny_model.py --out $@

.SECONDARY:
.PHONY: setup-suite setup-test setup-check setup-door help next test tests status hint watch debug compare reset grade race triage editor doctor run chat serve bench lesson0 lesson1 lesson2 model \
        setup all clean suite refresh verify check times overhead faults tokenizers fuzz programs suites course-commands
-include $(shell find $(BUILD) -name '*.d' -not -path '*/proof/*' 2>/dev/null)
