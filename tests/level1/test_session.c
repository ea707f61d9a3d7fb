// Questions to servers of the published shapes, and what a session shows, keeps and forgets.
#include "level1-user/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "level1-user/session_command.h"
#include "tests/support/scripted_server.h"
#include "tests/support/suite.h"

#define STREAM_HEAD                                                                        \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
#define WHOLE_HEAD                                                                         \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"

// A stream as OpenAI documents it (API reference, chat completion chunk): a first delta with the role,
// fields that are null, usage null in all chunks but the last, which has no choice.
#define OPENAI_CHUNK(delta, reason)                                                        \
    "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,"     \
    "\"model\":\"gpt\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_1\","      \
    "\"choices\":[{\"index\":0,\"delta\":{" delta "},\"logprobs\":null,"                   \
    "\"finish_reason\":" reason "}],\"usage\":null}\n\n"
#define OPENAI_USAGE                                                                       \
    "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,"     \
    "\"model\":\"gpt\",\"choices\":[],\"usage\":{\"prompt_tokens\":3200,"                  \
    "\"completion_tokens\":300,\"total_tokens\":3500,\"prompt_tokens_details\":"           \
    "{\"cached_tokens\":3000,\"audio_tokens\":0},\"completion_tokens_details\":"           \
    "{\"reasoning_tokens\":0}}}\n\n"
#define DONE "data: [DONE]\n\n"
#define OPENAI                                                                             \
    STREAM_HEAD OPENAI_CHUNK("\"role\":\"assistant\",\"content\":\"\",\"refusal\":null",   \
                             "null") OPENAI_CHUNK("\"content\":\"Good\"", "null")          \
        OPENAI_CHUNK("\"content\":\" day\"", "null") OPENAI_CHUNK("", "\"stop\"")          \
            OPENAI_USAGE DONE

// As DeepSeek documents it: comments keep the line open, the last chunk has choice and usage, the
// reasoning stands in a field of its own.
#define DEEPSEEK                                                                           \
    STREAM_HEAD                                                                            \
    ": keep-alive\n\n"                                                                     \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null," \
    "\"reasoning_content\":\"Hm.\"}}]}\n\n"                                                \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Good day\","                \
    "\"reasoning_content\":null}}]}\n\n"                                                   \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":"     \
    "\"length\"}],\"usage\":{\"prompt_tokens\":3200,\"completion_tokens\":300,"            \
    "\"prompt_tokens_details\":{\"cached_tokens\":3000},\"prompt_cache_hit_tokens\":3000," \
    "\"prompt_cache_miss_tokens\":200}}\n\n" DONE

#define REFUSAL                                                                            \
    WHOLE_HEAD "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","           \
               "\"content\":null,\"refusal\":\"I will not.\"},\"finish_reason\":"          \
               "\"stop\"}]}"
#define NO_KEY                                                                             \
    "HTTP/1.1 401 x\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"        \
    "{\"error\":{\"message\":\"no such "                                                   \
    "key\",\"type\":\"x\",\"param\":null,\"code\":null}}"
#define CUT STREAM_HEAD OPENAI_CHUNK("\"content\":\"Good\"", "null")

// Of data/prices.json: DeepSeek-R1 in February 2025.
static const struct price_entry r1 = {
    .price = {550000, 140000, PRICE_UNKNOWN, 2190000},
    .provider = "DeepSeek",
    .listed_as = "R1",
    .valid_from = "2025-02"
};

// Nobody counts: all that is known of tokens is the estimate.
#define UNCOUNTED STREAM_HEAD OPENAI_CHUNK("\"content\":\"Good day\"", "null") DONE

static struct scripted_server server;
static struct scripted_piece pieces[2]; // what the server says to each question
static struct clock real_clock;
static struct client client;
static struct session session;
static struct error err;
static volatile sig_atomic_t interrupted;
static char out[4096], told[4096]; // standard output and error of the last call

static void setup(void) {
    char url[64];
    clock_init_real(&real_clock);
    err = (struct error){0};
    pieces[0].bytes = OPENAI;
    scripted_server_start(&server, pieces, SCRIPTED_CLOSE);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1", server.port);
    const struct client_options options = {
        .base_url = url, .api_key = "sk-secret", .prefix_key = "tenant-7"};
    assert_status("client_open", client_open(&client, &options, &real_clock, &err), OK);
    session = (struct session){
        .interrupted = &interrupted,
        .attempts.client = &client,
        .request = {.model = "gpt", .stream = true, .max_tokens = 300},
        .account.price = &r1,
        .rules = "data/cache-rules.json",
        .estimate = {4,              5                           },
    };
}

static void teardown(void) {
    session_free(&session);
    session_free(&session);
    client_close(&client);
    scripted_server_stop(&server);
}

// Leads a standard stream into a file until it is read back.
struct capture {
    FILE *stream, *file;
    int was;
};

static struct capture capture_begin(FILE *stream) {
    fflush(stream);
    struct capture c = {stream, tmpfile(), dup(fileno(stream))};
    dup2(fileno(c.file), fileno(stream));
    return c;
}

static void capture_end(struct capture *c, char *text, size_t text_bytes) {
    fflush(c->stream);
    dup2(c->was, fileno(c->stream));
    close(c->was);
    rewind(c->file);
    text[fread(text, 1, text_bytes - 1, c->file)] = '\0';
    fclose(c->file);
}

static enum status ask(const char *question) {
    struct capture output = capture_begin(stdout), errors = capture_begin(stderr);
    enum status st = session_ask(&session, question, &err);
    capture_end(&errors, told, sizeof(told));
    capture_end(&output, out, sizeof(out));
    return st;
}

static bool command(const char *line) {
    struct capture errors = capture_begin(stderr);
    bool stays = session_command(&session, line);
    capture_end(&errors, told, sizeof(told));
    return stays;
}

static void assert_holds(const char *what, const char *text, const char *part) {
    ck_assert_msg(strstr(text, part), "%s: \"%s\" does not hold \"%s\"", what, text, part);
}

// ---- reference ----------------------------------------------------------------------------------

static const struct {
    const char *name, *answer, *status_line;
} shapes[] = {
    {"OpenAI",   OPENAI,
     "3200 prompt (3000 cached) + 300 completion tokens, $0.001187 (so far $0.001187)\n"},
    {"DeepSeek", DEEPSEEK,
     "3200 prompt (3000 cached) + 300 completion tokens, ended by length (--max-tokens), "
     "$0.001187 (so far $0.001187)\n"                                                   },
};

START_TEST(a_hosted_answer_is_shown_and_billed) {
    pieces[0].bytes = shapes[_i].answer;
    assert_status(shapes[_i].name, ask("Hello"), OK);
    assert_text(shapes[_i].name, out, "Good day\n");
    assert_holds(shapes[_i].name, told, shapes[_i].status_line);
}
END_TEST

START_TEST(what_was_said_goes_out_again) {
    text_append(&session.system, "Be brief.", 9);
    assert_status("session_ask", ask("Hello"), OK);
    assert_status("session_ask", ask("again"), OK);
    assert_text("both bills", strstr(told, "$"), "$0.001187 (so far $0.002374)\n");
    assert_holds("the second body", session.bodies[1],
                 "[{\"role\":\"system\",\"content\":\"Be brief.\"},"
                 "{\"role\":\"user\",\"content\":\"Hello\"},"
                 "{\"role\":\"assistant\",\"content\":\"Good day\"},"
                 "{\"role\":\"user\",\"content\":\"again\"}]");
    assert_holds("the request", server.request, session.bodies[1]);
    assert_holds("the request", server.request, "X-Prefix-Key: tenant-7\r\n");
    assert_holds("the request", server.request, "Authorization: Bearer sk-secret\r\n");
    assert_number("n_messages", session.conversation.n_messages, 4);
}
END_TEST

START_TEST(without_a_price_nothing_is_said_of_it) {
    session.account = (struct account){0};
    interrupted = 1; // by a Ctrl-C at the prompt: that ended no answer
    assert_status("session_ask", ask("Hello"), OK);
    assert_holds("standard error", told, "(3000 cached) + 300 completion tokens\n");
}
END_TEST

START_TEST(a_document_has_the_cost) {
    session.wants_json = true;
    assert_status("session_ask", ask("Hello"), OK);
    assert_holds("the document", out, "\"cost_usd\": \"0.001187\"");
    assert_text("standard error", told, "");
    session.account = (struct account){0};
    assert_status("session_ask", ask("Hello"), OK);
    ck_assert_ptr_null(strstr(out, "cost_usd"));
}
END_TEST

START_TEST(commands_change_what_goes_out) {
    ck_assert(command("/audit"));
    assert_text("/audit", told, "ask: an audit needs two questions that were answered\n");
    ask("Hello");
    ask("again");
    ck_assert(command("/stats"));
    assert_holds("/stats", told, "answers 2\ntokens  6400 prompt (6000 cached, 93.8 %)");
    ck_assert(command("/cost"));
    assert_holds("/cost", told, "total   $0.002374\n");
    ck_assert(command("/audit"));
    assert_holds("/audit", told, "DeepSeek");
    ck_assert(command("/new"));
    assert_number("/new: n_messages", session.conversation.n_messages, 0);
    ck_assert(command("/nonsense"));
    assert_holds("/nonsense", told, "ask: there is no command /nonsense\n/system FILE");
    ck_assert(!command("/quit"));
}
END_TEST

// ---- a conversation that has no room ------------------------------------------------------------

// Turns of twice n_bytes / 4 + 5 tokens each, that nobody has answered here.
static void talk(int n_turns, int n_bytes) {
    char text[1001];
    for (int t = 1; t <= n_turns; t++) {
        for (int i = 0; i < n_bytes; i++) text[i] = (char)('0' + t);
        text[n_bytes] = '\0';
        conversation_add(&session.conversation, "user", text, NULL);
        conversation_add(&session.conversation, "assistant", text, NULL);
    }
    pieces[0].bytes = UNCOUNTED;
    session.budget.has_looked = true;
}

// Turns of 60 tokens and a question of 6: 186 are above 150, 66 are at the low mark of 75.
START_TEST(old_turns_are_dropped_when_the_context_is_full) {
    talk(3, 100);
    text_append(&session.system, "B.", 2);
    session.budget.n_context = 200;
    session.request.max_tokens = 50;
    assert_status("session_ask", ask("Hello"), OK);
    assert_holds(
        "standard error", told,
        "ask: old turns dropped: 2, about 120 tokens; the context has room for 150\n");
    assert_number("n_messages", session.conversation.n_messages, 4);
    assert_holds("the body", session.bodies[1],
                 "[{\"role\":\"system\",\"content\":\"B.\"},"
                 "{\"role\":\"user\",\"content\":\"3333");
    ask("Hello");
    ck_assert_ptr_null(strstr(told, "dropped"));
    ck_assert(command("/stats"));
    assert_holds("/stats", told, "cuts    1 (old turns: 2, summaries: 0)\n");
}
END_TEST

// Turns of 510 tokens: 2046 are above 1700; the last one, 272 of a summary and the question are 788.
START_TEST(old_turns_become_a_summary_when_that_is_wanted) {
    talk(4, 1000);
    session.budget.n_context = 2000;
    session.budget.wants_summary = true;
    assert_status("session_ask", ask("Hello"), OK);
    assert_holds("standard error", told,
                 "ask: old turns summed up: 3, about 1530 tokens; the context has room for "
                 "1700\n");
    assert_holds("the body", session.bodies[1],
                 "[{\"role\":\"user\",\"content\":\"In short, what we said before: Good "
                 "day\\n\\n4444");
    assert_number("n_messages", session.conversation.n_messages, 5);
    assert_number("n_answers, the summary among them", session.account.n_answers, 2);
    assert_text("standard output", out, "Good day\n");
}
END_TEST

// 50 tokens of answer are $0.0001095; 186 of input would make it $0.0002118.
START_TEST(old_turns_are_dropped_when_a_request_costs_too_much) {
    talk(3, 100);
    session.request.max_tokens = 50;
    session.budget.max_price = 200000000;
    assert_status("session_ask", ask("Hello"), OK);
    assert_holds(
        "standard error", told,
        "ask: old turns dropped: 2, about 120 tokens; a request may cost $0.0002\n");
    session.budget.max_price = 100000000;
    assert_status("session_ask", ask("Hello"), ERR_LIMIT);
    assert_text("standard error", told, "");
    assert_text(
        "the error", err.text,
        "not sent: with an answer of 50 tokens it would cost about $0.0001128, above "
        "$0.0001");
    assert_number("n_messages", session.conversation.n_messages, 4);
}
END_TEST

// 1536 tokens and an answer of 50 are $0.0009543. Without the turns, with a summary, it is $0.0002624;
// but the summary would cost $0.0014, for 1530 tokens and 256 of output.
START_TEST(a_summary_that_costs_too_much_is_not_asked_for) {
    talk(3, 1000);
    session.request.max_tokens = 50;
    session.budget.wants_summary = true;
    session.budget.max_price = 600000000;
    assert_status("session_ask", ask("Hello"), OK);
    assert_holds(
        "standard error", told,
        "ask: old turns dropped: 3, about 1530 tokens; a request may cost $0.0006\n");
    assert_number("n_answers", session.account.n_answers, 1);
}
END_TEST

START_TEST(what_cannot_fit_is_left_to_the_server) {
    talk(1, 100);
    session.budget.n_context = 20;
    session.request.max_tokens = 0;
    assert_status("session_ask",
                  ask("A question of more than twenty tokens, so that no cut "
                      "helps, whatever else goes or stays."),
                  OK);
    ck_assert_ptr_null(strstr(told, "old turns"));
    assert_number("n_messages", session.conversation.n_messages, 4);
}
END_TEST

// What a server says of its models is no list here, so nothing is known, and it is asked once.
START_TEST(a_context_that_is_not_told_is_none) {
    talk(1, 1000);
    session.budget.has_looked = false;
    assert_status("session_ask", ask("Hello"), OK);
    ck_assert(session.budget.has_looked);
    assert_number("n_context", session.budget.n_context, 0);
}
END_TEST

START_TEST(a_summary_that_fails_changes_nothing) {
    talk(4, 1000);
    session.budget.n_context = 2000;
    session.budget.wants_summary = true;
    pieces[0].bytes = NO_KEY;
    assert_status("session_ask", ask("Hello"), ERR_INPUT);
    assert_number("n_messages", session.conversation.n_messages, 8);
    pieces[0].bytes = STREAM_HEAD DONE;
    assert_status("session_ask", ask("Hello"), ERR_FORMAT);
    assert_text("the error", err.text, "the model gave no summary");
    assert_number("n_messages", session.conversation.n_messages, 8);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

START_TEST(a_question_without_an_answer_is_forgotten) {
    pieces[0].bytes = NO_KEY;
    assert_status("session_ask", ask("Hello"), ERR_INPUT);
    assert_holds("the error", err.text, "401: no such key; check the API key");
    ck_assert_ptr_null(strstr(err.text, "sk-secret"));
    assert_text("standard output and error", out, told);
    assert_number("n_messages", session.conversation.n_messages, 0);
    assert_number("n_answers", session.account.n_answers, 0);
    ck_assert_ptr_null(session.bodies[1]);
}
END_TEST

START_TEST(a_refusal_is_an_error_and_is_paid) {
    pieces[0].bytes = REFUSAL;
    assert_status("session_ask", ask("Hello"), ERR_INPUT);
    assert_text("the error", err.text, "the model refuses: I will not.");
    assert_number("n_messages", session.conversation.n_messages, 0);
    assert_number("n_answers", session.account.n_answers, 1);
}
END_TEST

START_TEST(a_cut_answer_is_kept_and_its_cost_not_known) {
    pieces[0].bytes = CUT;
    assert_status("session_ask", ask("Hello"), ERR_IO);
    assert_text("standard output", out, "Good\n");
    assert_holds(
        "standard error", told,
        "cost not known: the server told no usage (so far $0 and what is not known)");
    assert_number("n_messages", session.conversation.n_messages, 2);
}
END_TEST

static const char *const refused[] = {
    "/save",
    "/save /nonexistent/talk.json",
    "/load /nonexistent",
    "/load data/prices.json",
    "/load /dev/zero",
    "/system /nonexistent",
    "/system /dev/zero",
    "/system .",
    "/new now",
};

START_TEST(a_command_that_fails_changes_nothing) {
    text_append(&session.system, "Be brief.", 9);
    ask("Hello");
    ck_assert(command(refused[_i]));
    ck_assert_msg(strncmp(told, "ask: ", 5) == 0, "%s: %s", refused[_i], told);
    assert_number(refused[_i], session.conversation.n_messages, 2);
    assert_text(refused[_i], text_string(&session.system), "Be brief.");
}
END_TEST

static void add_case(Suite *s, TCase *c) {
    tcase_add_checked_fixture(c, setup, teardown);
    suite_add_tcase(s, c);
}

Suite *suite(void) {
    Suite *s = suite_create("level1/session");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, a_hosted_answer_is_shown_and_billed, 0,
                        sizeof(shapes) / sizeof(shapes[0]));
    tcase_add_test(reference, what_was_said_goes_out_again);
    tcase_add_test(reference, without_a_price_nothing_is_said_of_it);
    tcase_add_test(reference, a_document_has_the_cost);
    tcase_add_test(reference, commands_change_what_goes_out);
    add_case(s, reference);
    TCase *budget = tcase_create("budget");
    tcase_add_test(budget, old_turns_are_dropped_when_the_context_is_full);
    tcase_add_test(budget, old_turns_become_a_summary_when_that_is_wanted);
    tcase_add_test(budget, old_turns_are_dropped_when_a_request_costs_too_much);
    tcase_add_test(budget, a_summary_that_costs_too_much_is_not_asked_for);
    tcase_add_test(budget, what_cannot_fit_is_left_to_the_server);
    tcase_add_test(budget, a_context_that_is_not_told_is_none);
    tcase_add_test(budget, a_summary_that_fails_changes_nothing);
    add_case(s, budget);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, a_question_without_an_answer_is_forgotten);
    tcase_add_test(failures, a_refusal_is_an_error_and_is_paid);
    tcase_add_test(failures, a_cut_answer_is_kept_and_its_cost_not_known);
    tcase_add_loop_test(failures, a_command_that_fails_changes_nothing, 0,
                        sizeof(refused) / sizeof(refused[0]));
    add_case(s, failures);
    return s;
}
