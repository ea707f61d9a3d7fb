// Machines that a model may run on: this one, to the byte as serve's ledger has it, and a table's.
#include "level2-operator/fit/fit_machine.h"

#include <string.h>

#include "common/limits.h"
#include "common/os.h"
#include "level2-operator/engine/serial_fit.h"
#include "level2-operator/fit/fit_constants.h"
#include "tests/support/engine_rig.h"
#include "tests/support/fit_subjects.h"
#include "tests/support/suite.h"

START_TEST(here_is_this_machine) {
    const struct fit_subject s = subject_of("windows");
    struct fit_machine m;
    fit_machine_here(&m, &s, 5);
    assert_number("memory", (int64_t)m.device.memory_bytes, (int64_t)os_memory_bytes());
    assert_number("share", m.device.share, 900);
    ck_assert_int_gt((int64_t)m.device.overhead_bytes, 0);
    assert_number("here", m.is_here, true);
}
END_TEST

// For a file, fit adds up here what serve then takes, byte for byte: weights, tables, activations, queues.
START_TEST(here_a_file_takes_what_the_ledger_of_serve_says) {
    int n_cpus = os_cpu_count() < LIMIT_WORKERS ? os_cpu_count() : LIMIT_WORKERS;
    struct rig rig;
    struct engine_ledger l;
    struct fit_subject s;
    struct fit_machine m;
    rig_open_tiny(&rig, n_cpus);
    rig.options.n_ctx = 33;
    assert_status("ledger", engine_serial_ledger(&rig.model, &rig.options, &l, NULL), OK);
    assert_status("file", fit_subject_of_file(&s, tiny_model_path(), NULL), OK);
    fit_subject_serve(&s, tiny_model_path());
    assert_text("note", s.note, "");
    fit_machine_here(&m, &s, serial_fit_beside_kv(&s.config, 33));
    assert_number("weights", (int64_t)s.stored_bytes, (int64_t)l.weights_bytes);
    assert_number("tables", (int64_t)s.tables_bytes, (int64_t)l.tables_bytes);
    assert_number("overhead", (int64_t)m.device.overhead_bytes,
                  (int64_t)(l.tables_bytes + l.activation_bytes + l.other_bytes));
    rig_start(&rig);
    assert_number("the arena of the model", (int64_t)rig.model.arena.used,
                  (int64_t)(l.tables_bytes + l.packed_bytes));
    rig_close(&rig);
}
END_TEST

START_TEST(what_serve_would_refuse_is_noted) {
    struct fit_subject s = subject_of("windows");
    fit_subject_serve(&s, "no/such.gguf");
    ck_assert_msg(strstr(s.note, "serve would not start: no/such.gguf") == s.note, "%s",
                  s.note);
    assert_number("tables", (int64_t)s.tables_bytes, 0);
}
END_TEST

START_TEST(constants_that_are_missing_are_named) {
    static const char text[] =
        "{\"overheads\": [{\"name\": \"context\", \"low_bytes\": 2, \"high_bytes\": 8},"
        "{\"name\": \"activations\", \"high_bytes\": 8}, {\"name\": \"graphs\"}]}";
    static const char rates[] = "{\"rates\": [{\"name\": \"disk\", \"bytes_per_s\": 5}]}";
    const struct device_entry board = {.name = "x", .usable_bytes = 9, .tag_usable = "S"};
    struct data_table t;
    struct fit_machine m;
    struct error err = {0};
    data_table_parse(&t, &fit_overhead_table, text, strlen(text), "list", &err);
    assert_status("overheads", fit_machine_of_entry(&m, &board, &t, &err), ERR_FORMAT);
    ck_assert_msg(strstr(err.text, "context-split") != NULL, "%s", err.text);
    data_table_close(&t);
    data_table_parse(&t, &fit_rate_table, rates, strlen(rates), "list", &err);
    assert_status("rates", fit_machine_rates(&m, &t, &err), ERR_FORMAT);
    ck_assert_msg(strstr(err.text, "page-cache") != NULL, "%s", err.text);
    data_table_close(&t);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/fit_machine");
    TCase *machines = tcase_in(s, "machines");
    tcase_add_test(machines, here_is_this_machine);
    tcase_add_test(machines, here_a_file_takes_what_the_ledger_of_serve_says);
    tcase_add_test(machines, what_serve_would_refuse_is_noted);
    tcase_add_test(machines, constants_that_are_missing_are_named);
    return s;
}
