// Chat templates for models that come without one, or with one that is wrong. Each writes the turns of
// a family in their plainest form: no tools, no dates, no default system message.
#ifndef LEVEL2_CHAT_BUILTIN_H
#define LEVEL2_CHAT_BUILTIN_H

struct chat_builtin {
    const char *name, *source;
};

// Ends with a NULL name.
extern const struct chat_builtin chat_builtins[];

// Their names, for messages. A macro, since only literals can be joined; a test compares the two lists.
#define CHAT_BUILTIN_NAMES "chatml, llama3, mistral, gemma or plain"

#endif
