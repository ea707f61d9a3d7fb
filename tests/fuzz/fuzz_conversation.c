// Saved conversations under a fuzzer: whatever is taken can be sent; whatever is refused has a reason and
// leaves what was there.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "level1-user/conversation_file.h"
#include "level1-user/request.h"

static void check(bool claim) {
    if (!claim) abort();
}

static void check_taken(const struct conversation *said, const struct text *system) {
    const struct chat_message first = {"system", text_string(system)};
    struct chat_request request = {
        .model = "m", .messages = said->messages, .n_messages = said->n_messages};
    char *body = NULL;

    for (int i = 0; i < said->n_messages; i++) {
        const char *role = said->messages[i].role;
        check(strcmp(role, "user") == 0 || strcmp(role, "assistant") == 0);
    }
    check(chat_request_body(&body, &request, NULL) == OK);
    free(body);
    request.messages = &first;
    request.n_messages = 1;
    check(chat_request_body(&body, &request, NULL) == OK);
    free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    struct conversation said = {0};
    struct text system = {0};
    struct error err = {0};

    check(conversation_add(&said, "user", "before", NULL) == OK);
    check(text_append(&system, "before", 6));
    if (conversation_parse(&said, &system, (const char *)bytes, n_bytes, "drawn", &err) ==
        OK) {
        check_taken(&said, &system);
    } else {
        check(err.text[0] != '\0' && said.n_messages == 1);
        check(strcmp(said.messages[0].text, "before") == 0);
        check(strcmp(text_string(&system), "before") == 0);
    }
    conversation_free(&said);
    text_free(&system);
    return 0;
}
