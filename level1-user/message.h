// One message of a chat request.
#ifndef LEVEL1_MESSAGE_H
#define LEVEL1_MESSAGE_H

struct chat_message {
    const char *role; // "system", "user" or "assistant"
    const char *text; // UTF-8, NUL-terminated
};

#endif
