// Prompts: worked by hand, against an oracle that sorts and joins in the plainest way, and what two
// requests have in common at their beginning.
#include "level1-user/prompt.h"

#include "common/limits.h"
#include "tests/support/prompt_oracle.h"
#include "tests/support/prompt_rig.h"
#include "tests/support/suite.h"

// ---- build: worked example ----------------------------------------------------------------------

static const struct prompt_part shop[] = {
    {"clock",   "user",   PROMPT_PER_TURN, "It is 10:02."        },
    {"rules",   "system", PROMPT_NEVER,    "Be brief."           },
    {"profile", "system", PROMPT_PER_USER, "The customer is Ada."},
};
static const struct chat_message greeting[] = {
    {"user",      "Hi."       },
    {"assistant", "Hello Ada."},
};

START_TEST(worked_example) {
    static const struct chat_message want[] = {
        {"system",    "Be brief.\n\nThe customer is Ada."},
        {"user",      "Hi."                              },
        {"assistant", "Hello Ada."                       },
        {"user",      "It is 10:02.\n\nWhere is it?"     },
    };
    assert_built(&(struct prompt_input){shop, 3, greeting, 2, "Where is it?"}, want, 4);
}
END_TEST

START_TEST(worked_example_one_turn_later) {
    static const struct prompt_part later[] = {
        {"clock",   "user",   PROMPT_PER_TURN, "It is 10:05."        },
        {"rules",   "system", PROMPT_NEVER,    "Be brief."           },
        {"profile", "system", PROMPT_PER_USER, "The customer is Ada."},
    };
    static const struct chat_message said[] = {
        {"user",      "Hi."         },
        {"assistant", "Hello Ada."  },
        {"user",      "Where is it?"},
        {"assistant", "At sea."     },
    };
    static const struct chat_message want[] = {
        {"system",    "Be brief.\n\nThe customer is Ada."},
        {"user",      "Hi."                              },
        {"assistant", "Hello Ada."                       },
        {"user",      "Where is it?"                     },
        {"assistant", "At sea."                          },
        {"user",      "It is 10:05.\n\nAnd now?"         },
    };
    assert_built(&(struct prompt_input){later, 3, said, 4, "And now?"}, want, 6);
}
END_TEST

// ---- build: edges -------------------------------------------------------------------------------

START_TEST(a_question_alone_is_one_message) {
    assert_built(&(struct prompt_input){.question = "Hi."},
                 &(struct chat_message){"user", "Hi."}, 1);
}
END_TEST

START_TEST(parts_of_one_kind_stay_in_the_callers_order) {
    static const struct prompt_part parts[] = {
        {"z", "system", PROMPT_NEVER,    "3"},
        {"t", "user",   PROMPT_PER_TURN, "8"},
        {"a", "system", PROMPT_NEVER,    "1"},
        {"s", "user",   PROMPT_PER_TURN, "7"},
        {"m", "system", PROMPT_NEVER,    "2"},
    };
    static const struct chat_message want[] = {
        {"system", "3\n\n1\n\n2"},
        {"user",   "8\n\n7\n\n?"},
    };
    assert_built(&(struct prompt_input){parts, 5, NULL, 0, "?"}, want, 2);
}
END_TEST

START_TEST(every_text_keeps_its_role) {
    static const struct prompt_part parts[] = {
        {"reminder", "system",    PROMPT_PER_TURN,         "Mind the rules."    },
        {"order",    "user",      PROMPT_PER_CONVERSATION, "Order 17."          },
        {"sample q", "user",      PROMPT_NEVER,            "Do you sell boats?" },
        {"sample a", "assistant", PROMPT_NEVER,            "No, but kites."     },
        {"profile",  "system",    PROMPT_PER_USER,         "The customer is Bo."},
    };
    static const struct chat_message want[] = {
        {"user",      "Do you sell boats?" },
        {"assistant", "No, but kites."     },
        {"system",    "The customer is Bo."},
        {"user",      "Order 17.\n\nHi."   },
        {"assistant", "Hello Ada."         },
        {"system",    "Mind the rules."    },
        {"user",      "Where is it?"       },
    };
    assert_built(&(struct prompt_input){parts, 5, greeting, 2, "Where is it?"}, want, 7);
}
END_TEST

START_TEST(an_empty_text_is_left_out) {
    static const struct prompt_part parts[] = {
        {"first",  "system",    PROMPT_NEVER,            ""      },
        {"rules",  "system",    PROMPT_NEVER,            "Rules."},
        {"sample", "assistant", PROMPT_NEVER,            ""      },
        {"more",   "system",    PROMPT_PER_CONVERSATION, "More." },
        {"clock",  "user",      PROMPT_PER_TURN,         ""      },
    };
    static const struct chat_message turns[] = {
        {"user",      "a"},
        {"assistant", "" },
        {"user",      "b"},
        {"assistant", "c"},
        {"user",      "" },
    };
    static const struct chat_message want[] = {
        {"system",    "Rules.\n\nMore."},
        {"user",      "a\n\nb"         },
        {"assistant", "c"              },
        {"user",      "d"              },
    };
    assert_built(&(struct prompt_input){parts, 5, turns, 5, "d"}, want, 4);
}
END_TEST

START_TEST(nothing_is_trimmed) {
    static const struct prompt_part parts[] = {
        {"rules",   "system", PROMPT_NEVER,    "  a\n"        },
        {"profile", "system", PROMPT_PER_USER, "\n b \xc3\xa9"},
    };
    static const struct chat_message want[] = {
        {"system", "  a\n\n\n\n b \xc3\xa9"},
        {"user",   " \n"                   },
    };
    assert_built(&(struct prompt_input){parts, 2, NULL, 0, " \n"}, want, 2);
}
END_TEST

// Roles that are equal as texts, not as addresses.
START_TEST(texts_and_roles_may_stand_anywhere_in_memory) {
    char role_a[] = "user", role_b[] = "user", a[] = "a", b[] = "b", question[] = "q";
    const struct prompt_part parts[] = {
        {"a", role_a, PROMPT_PER_TURN, a},
        {"b", role_b, PROMPT_PER_TURN, b},
    };
    struct prompt_input in = {parts, 2, NULL, 0, question};
    struct arena arena;
    struct prompt p;
    arena_init(&arena, 1 << 20);
    assert_text(built_from(&in, "status"), status_name(prompt_build(&p, &in, &arena, NULL)),
                "ok");
    a[0] = b[0] = question[0] = '!';
    assert_number(built_from(&in, "n_messages"), p.n_messages, 1);
    assert_text(built_from(&in, "messages[0].text, once the caller's texts are others"),
                p.messages[0].text, "a\n\nb\n\nq");
    arena_free(&arena);
}
END_TEST

// ---- build: failures ----------------------------------------------------------------------------

static const struct {
    struct prompt_part part;
    struct chat_message turn;
    const char *question;
    const char *param;
} wrong_inputs[] = {
    {{"rules", "System", PROMPT_NEVER, "a"},           {"user", "b"}, "c", "rules"   },
    {{"tools", "", PROMPT_PER_TURN, ""},               {"user", "b"}, "c", "tools"   },
    {{"clock", "user", PROMPT_CHANGE_COUNT, "a"},      {"user", "b"}, "c", "clock"   },
    {{"clock", "user", (enum prompt_change)(-1), "a"}, {"user", "b"}, "c", "clock"   },
    {{"rules", "system", PROMPT_NEVER, "a"},           {"tool", "b"}, "c", "history" },
    {{"rules", "system", PROMPT_NEVER, "a"},           {"user", "b"}, "",  "question"},
};

START_TEST(what_cannot_be_is_refused) {
    assert_build_refused(&(struct prompt_input){&wrong_inputs[_i].part, 1,
                                                &wrong_inputs[_i].turn, 1,
                                                wrong_inputs[_i].question},
                         ERR_INPUT, wrong_inputs[_i].param);
}
END_TEST

START_TEST(too_many_parts_are_refused) {
    struct prompt_part parts[LIMIT_PROMPT_PARTS + 1];
    struct chat_message want[LIMIT_PROMPT_PARTS + 1];
    for (int i = 0; i <= LIMIT_PROMPT_PARTS; i++) {
        const char *role = i % 2 ? "user" : "assistant";
        parts[i] = (struct prompt_part){"p", role, PROMPT_NEVER, "x"};
        want[i] = (struct chat_message){role, "x"};
    }
    want[LIMIT_PROMPT_PARTS - 1].text = "x\n\n?";
    assert_built(&(struct prompt_input){parts, LIMIT_PROMPT_PARTS, NULL, 0, "?"}, want,
                 LIMIT_PROMPT_PARTS);
    assert_build_refused(
        &(struct prompt_input){parts, LIMIT_PROMPT_PARTS + 1, NULL, 0, "?"}, ERR_LIMIT,
        "parts");
}
END_TEST

START_TEST(too_many_turns_are_refused) {
    static struct chat_message turns[LIMIT_MESSAGES];
    for (int t = 0; t < LIMIT_MESSAGES; t++) {
        turns[t] = (struct chat_message){t % 2 ? "user" : "assistant", "x"};
    }
    turns[LIMIT_MESSAGES - 1] = (struct chat_message){"user", "?"};
    assert_built(&(struct prompt_input){NULL, 0, turns, LIMIT_MESSAGES - 1, "?"}, turns,
                 LIMIT_MESSAGES);
    assert_build_refused(&(struct prompt_input){NULL, 0, turns, LIMIT_MESSAGES, "?"},
                         ERR_LIMIT, "history");
}
END_TEST

START_TEST(every_failed_allocation_is_an_error) {
    struct prompt_input in = {shop, 3, greeting, 2, "Where is it?"};
    int n = 0;
    for (;; n++) {
        struct arena arena;
        struct prompt p;
        arena_init(&arena, 1 << 20);
        arena_fail_after(&arena, n);
        enum status st = prompt_build(&p, &in, &arena, NULL);
        arena_free(&arena);
        if (st == OK) break;
        assert_text(built_from(&in, "status, when memory fails"), status_name(st),
                    status_name(ERR_MEMORY));
    }
    assert_number(built_from(&in, "takes its memory from the arena"), n > 0, 1);
}
END_TEST

// ---- build: property ----------------------------------------------------------------------------

START_TEST(agrees_with_taking_one_text_after_the_other) {
    struct draw d = draw_start("prompt oracle");
    for (int round = 0; round < 60; round++) {
        struct drawn in;
        struct expected_messages want;
        drawn_make(&in, &d, round % 3 == 0 ? 1 : DRAWN_BYTES);
        expect_messages(&want, &in.input);
        assert_built(&in.input, want.messages, want.n_messages);
        drawn_free(&in);
    }
}
END_TEST

// ---- compare ------------------------------------------------------------------------------------

// Two parts before and now, and what is said of them.
struct parts_pair {
    const char *rules[2], *profile[2]; // never, per user
    struct prompt_warning want;
};

static void check_parts(const struct parts_pair *c) {
    struct prompt_part parts[2][2];
    struct pair pair = {.shared = PROMPT_PER_USER};
    for (int i = 0; i < 2; i++) {
        // The caller's order is not the prompt's.
        parts[i][0] =
            (struct prompt_part){"profile", "user", PROMPT_PER_USER, c->profile[i]};
        parts[i][1] = (struct prompt_part){"rules", "system", PROMPT_NEVER, c->rules[i]};
    }
    pair.before = (struct prompt_input){parts[0], 2, NULL, 0, "before"};
    pair.now = (struct prompt_input){parts[1], 2, NULL, 0, "now"};
    assert_warning(&pair, &c->want);
}

// clang-format off
static const struct parts_pair minutes_later = {
    {"It is 10:02. Be brief.", "It is 10:05. Be brief."},
    {"The customer is Ada.", "The customer is Ada."},
    {PROMPT_CHANGED, "rules", "It is 10:05. Be brief.", 10, 31},
};
static const struct parts_pair changes[] = {
    {{"same", "same"}, {"Ada", "Ada"}, {PROMPT_FINE, NULL, NULL, 0, 0}},
    // A date, a time, an id, a map: in front of something.
    {{"2026-03-01: be kind", "2026-03-12: be kind"}, {"Ada", "Ada"},
     {PROMPT_CHANGED, "rules", "2026-03-12: be kind", 8, 9 + 3}},
    {{"Now 9:59. Be kind.", "Now 10:00. Be kind."}, {"", ""},
     {PROMPT_CHANGED, "rules", "Now 10:00. Be kind.", 4, 10}},
    {{"request 7f3a", "request 90c1"}, {"Ada", "Ada"},
     {PROMPT_CHANGED, "rules", "request 90c1", 8, 3}},
    {{"{\"tea\":3,\"jam\":4}", "{\"jam\":4,\"tea\":3}"}, {"Ada", "Ada"},
     {PROMPT_SHUFFLED, "rules", "{\"jam\":4,\"tea\":3}", 2, 1 + 3}},
    // The same at the end of the prompt: nothing is behind it.
    {{"be kind", "be kind"}, {"Ada, 10:02", "Ada, 10:05"}, {PROMPT_FINE, NULL, NULL, 0, 0}},
    {{"It is 10:02", "It is 10:05"}, {"", ""}, {PROMPT_FINE, NULL, NULL, 0, 0}},
    {{"a", "b"}, {"", "c"}, {PROMPT_FINE, NULL, NULL, 0, 0}},
    // What came, what went, and an end that could reach back over what both begin with.
    {{"", "new"}, {"Ada", "Ada"}, {PROMPT_CHANGED, "rules", "new", 0, 3}},
    {{"old", ""}, {"Ada", "Ada"}, {PROMPT_CHANGED, "rules", "", 0, 3}},
    {{"aaaa", "aaaaa"}, {"Ada", "Ada"}, {PROMPT_CHANGED, "rules", "aaaaa", 4, 3}},
    {{"aaaaa", "aaa"}, {"Ada", "Ada"}, {PROMPT_CHANGED, "rules", "aaa", 3, 3}},
    {{"abcab", "abcabcab"}, {"", ""}, {PROMPT_FINE, NULL, NULL, 0, 0}},
    {{"x1y", "x2y"}, {"", ""}, {PROMPT_CHANGED, "rules", "x2y", 1, 1}},
    // Two that changed: the first in the prompt is named, and the end of the second is no gain.
    {{"1 a", "2 a"}, {"3 b", "4 b"}, {PROMPT_CHANGED, "rules", "2 a", 0, 2}},
    // Bytes, not letters; the same letters, but not equally often.
    {{"\xc3\xa9.", "\xc3\xa8."}, {"", ""}, {PROMPT_CHANGED, "rules", "\xc3\xa8.", 1, 1}},
    {{"aab.", "abb."}, {"", ""}, {PROMPT_CHANGED, "rules", "abb.", 1, 2}},
    {{"\xff\x01.", "\x01\xff."}, {"", ""}, {PROMPT_SHUFFLED, "rules", "\x01\xff.", 0, 1}},
};
// clang-format on

START_TEST(worked_example_compare) {
    check_parts(&minutes_later);
}
END_TEST

START_TEST(what_changed_in_front_of_something_stable_is_named) {
    check_parts(&changes[_i]);
}
END_TEST

// One part of each kind, all of which differ in their first byte, and a history that was cut in front.
static const struct prompt_part all_old[] = {
    {"turn",  "user",   PROMPT_PER_TURN,         "1 turn" },
    {"case",  "system", PROMPT_PER_CONVERSATION, "1 case" },
    {"rules", "system", PROMPT_NEVER,            "1 rules"},
    {"user",  "system", PROMPT_PER_USER,         "1 user" },
};
static const struct prompt_part all_new[] = {
    {"turn",  "user",   PROMPT_PER_TURN,         "2 turn" },
    {"case",  "system", PROMPT_PER_CONVERSATION, "2 case" },
    {"rules", "system", PROMPT_NEVER,            "2 rules"},
    {"user",  "system", PROMPT_PER_USER,         "2 user" },
};
static const struct chat_message turns_old[] = {
    {"user",      "Hi."  },
    {"assistant", "Hello"},
    {"user",      "Boat?"},
    {"assistant", "Sunk."},
};
static const struct chat_message turns_new[] = {
    {"user",      "Boat?"     },
    {"assistant", "Sunk."     },
    {"user",      "Boat?"     },
    {"assistant", "No, sunk?!"},
    {"user",      "Oh."       },
};

// all_old, but for the parts from `from` on, which are those of all_new.
static struct pair pair_of(struct prompt_part parts[4], enum prompt_change from,
                           enum prompt_change shared) {
    for (int i = 0; i < 4; i++) {
        parts[i] = all_old[i].change < from ? all_old[i] : all_new[i];
    }
    return (struct pair){
        .before = {all_old, 4, turns_old, 2, "q"},
        .now = {parts,   4, turns_old, 4, "r"},
        .shared = shared,
    };
}

// clang-format off
static const struct {
    enum prompt_change from, shared;
    struct prompt_warning want;
} scopes[] = {
    {PROMPT_NEVER, PROMPT_NEVER, {PROMPT_CHANGED, "rules", "2 rules", 0, 6}},
    {PROMPT_NEVER, PROMPT_PER_CONVERSATION, {PROMPT_CHANGED, "rules", "2 rules", 0, 14}},
    {PROMPT_PER_USER, PROMPT_NEVER, {PROMPT_FINE, NULL, NULL, 0, 0}},
    {PROMPT_PER_USER, PROMPT_PER_USER, {PROMPT_CHANGED, "user", "2 user", 0, 5}},
    {PROMPT_PER_CONVERSATION, PROMPT_PER_USER, {PROMPT_FINE, NULL, NULL, 0, 0}},
    {PROMPT_PER_CONVERSATION, PROMPT_PER_CONVERSATION, {PROMPT_CHANGED, "case", "2 case", 0, 13}},
    {PROMPT_PER_TURN, PROMPT_PER_CONVERSATION, {PROMPT_FINE, NULL, NULL, 0, 0}},
};
// clang-format on

START_TEST(a_promise_holds_for_those_who_share_it) {
    struct prompt_part parts[4];
    struct pair pair = pair_of(parts, scopes[_i].from, scopes[_i].shared);
    assert_warning(&pair, &scopes[_i].want);
}
END_TEST

START_TEST(a_history_may_only_grow_at_its_end) {
    struct prompt_part parts[4];
    struct pair pair = pair_of(parts, PROMPT_PER_TURN, PROMPT_PER_CONVERSATION);
    pair.before.n_history = 4;
    pair.now.n_history = 2;
    assert_warning(&pair, &(struct prompt_warning){0});

    pair.now.history = turns_new;
    pair.now.n_history = 5;
    assert_warning(&pair,
                   &(struct prompt_warning){PROMPT_CHANGED, "history", "Boat?", 0, 5});
    pair.shared = PROMPT_PER_USER;
    assert_warning(&pair, &(struct prompt_warning){0});
}
END_TEST

static const struct {
    struct prompt_part part; // of now; before it was {"rules", "system", PROMPT_NEVER, "a"}
    int n_parts;
    enum prompt_change shared;
    const char *question, *param;
} wrong_pairs[] = {
    {{"rule", "system", PROMPT_NEVER, "a"},     1, PROMPT_NEVER,        "q", "rule"    },
    {{"rules", "user", PROMPT_NEVER, "a"},      1, PROMPT_NEVER,        "q", "rules"   },
    {{"rules", "system", PROMPT_PER_USER, "a"}, 1, PROMPT_NEVER,        "q", "rules"   },
    {{"rules", "system", PROMPT_NEVER, "a"},    0, PROMPT_NEVER,        "q", "parts"   },
    {{"rules", "system", PROMPT_NEVER, "a"},    1, PROMPT_PER_TURN,     "q", "shared"  },
    {{"rules", "system", PROMPT_NEVER, "a"},    1, PROMPT_CHANGE_COUNT, "q", "shared"  },
    {{"rules", "system", PROMPT_NEVER, "a"},    1, PROMPT_NEVER,        "",  "question"},
};

START_TEST(requests_that_cannot_be_compared_are_refused) {
    static const struct prompt_part old = {"rules", "system", PROMPT_NEVER, "a"};
    struct prompt_input before = {&old, 1, NULL, 0, "q"};
    struct prompt_input now = {&wrong_pairs[_i].part, wrong_pairs[_i].n_parts, NULL, 0,
                               wrong_pairs[_i].question};
    struct prompt_warning w;
    struct error err = {0};
    enum status st = prompt_compare(&w, &before, &now, wrong_pairs[_i].shared, &err);
    assert_text("prompt_compare(parts that do not match): status", status_name(st),
                status_name(ERR_INPUT));
    assert_text("prompt_compare(parts that do not match): err.param", err.param,
                wrong_pairs[_i].param);
}
END_TEST

START_TEST(agrees_with_looking_from_the_back) {
    struct draw d = draw_start("prompt compare oracle");
    for (int round = 0; round < 150; round++) {
        struct drawn before, now;
        enum prompt_change shared = (enum prompt_change)(round % 3);
        drawn_make(&before, &d, 1 + round % 8);
        drawn_next(&now, &before, &d, 1 + round % 8);
        struct prompt_warning want = expect_warning(&before.input, &now.input, shared);
        assert_warning(&(struct pair){before.input, now.input, shared}, &want);
        drawn_free(&before);
        drawn_free(&now);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/prompt");
    TCase *tc = tcase_in(s, "build worked example");
    tcase_add_test(tc, worked_example);
    tcase_add_test(tc, worked_example_one_turn_later);

    tc = tcase_in(s, "build edges");
    tcase_add_test(tc, a_question_alone_is_one_message);
    tcase_add_test(tc, parts_of_one_kind_stay_in_the_callers_order);
    tcase_add_test(tc, every_text_keeps_its_role);
    tcase_add_test(tc, an_empty_text_is_left_out);
    tcase_add_test(tc, nothing_is_trimmed);
    tcase_add_test(tc, texts_and_roles_may_stand_anywhere_in_memory);

    tc = tcase_in(s, "build failures");
    tcase_add_loop_test(tc, what_cannot_be_is_refused, 0, ROWS(wrong_inputs));
    tcase_add_test(tc, too_many_parts_are_refused);
    tcase_add_test(tc, too_many_turns_are_refused);
    tcase_add_test(tc, every_failed_allocation_is_an_error);

    tc = tcase_in(s, "build property");
    tcase_add_test(tc, agrees_with_taking_one_text_after_the_other);

    tcase_add_test(tcase_in(s, "compare worked example"), worked_example_compare);
    tc = tcase_in(s, "compare reference");
    tcase_add_loop_test(tc, what_changed_in_front_of_something_stable_is_named, 0,
                        ROWS(changes));
    tcase_add_loop_test(tc, a_promise_holds_for_those_who_share_it, 0, ROWS(scopes));
    tcase_add_test(tc, a_history_may_only_grow_at_its_end);

    tc = tcase_in(s, "compare failures");
    tcase_add_loop_test(tc, requests_that_cannot_be_compared_are_refused, 0,
                        ROWS(wrong_pairs));

    tc = tcase_in(s, "compare property");
    tcase_add_test(tc, agrees_with_looking_from_the_back);
    return s;
}
